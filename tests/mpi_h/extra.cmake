# SPDX-License-Identifier: BSD-3-Clause
# The handle library is not an object library, so its unit tests compile the source files that they test.
target_sources(tests_mpi_h PRIVATE ${CMAKE_SOURCE_DIR}/mpi_h/entry/usage_checks.cpp)

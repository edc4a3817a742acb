# SPDX-License-Identifier: BSD-3-Clause
# The library of handles is no object library: its unit tests take the files that they are about.
target_sources(tests_mpi_h PRIVATE ${CMAKE_SOURCE_DIR}/mpi_h/entry/usage_checks.cpp)

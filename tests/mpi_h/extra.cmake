# SPDX-License-Identifier: BSD-3-Clause
# The library of handles is no object library: its unit tests take the files that they are about.
file(GLOB checks CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/mpi_h/check/*.cpp)
target_sources(tests_mpi_h PRIVATE ${checks})

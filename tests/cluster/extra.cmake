# SPDX-License-Identifier: BSD-3-Clause
# What the tests on several hosts start.
add_executable(cluster_wire ${CMAKE_CURRENT_SOURCE_DIR}/cluster/wire.cpp)
set_target_properties(cluster_wire PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_executable(cluster_member ${CMAKE_CURRENT_SOURCE_DIR}/cluster/member.c)
target_include_directories(cluster_member PRIVATE ${CMAKE_SOURCE_DIR}/mpi_h/include)
target_link_libraries(cluster_member PRIVATE mpi)
set_target_properties(cluster_member PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

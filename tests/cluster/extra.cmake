# SPDX-License-Identifier: BSD-3-Clause
# What the tests on several hosts start.
add_executable(cluster_wire ${CMAKE_CURRENT_SOURCE_DIR}/cluster/wire.cpp)
set_target_properties(cluster_wire PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

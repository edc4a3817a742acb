# SPDX-License-Identifier: BSD-3-Clause
# Programs that the launcher's shell tests start.
add_executable(launcher_rank ${CMAKE_CURRENT_SOURCE_DIR}/launcher/rank_program.cpp)
target_link_libraries(launcher_rank PRIVATE tutti_runtime tutti_topo Threads::Threads)
add_executable(launcher_forbid ${CMAKE_CURRENT_SOURCE_DIR}/launcher/forbid.c)
add_executable(launcher_on_terminal ${CMAKE_CURRENT_SOURCE_DIR}/launcher/on_terminal.cpp)
set_target_properties(launcher_rank launcher_forbid launcher_on_terminal PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

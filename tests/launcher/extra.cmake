# SPDX-License-Identifier: BSD-3-Clause
# Programs that the launcher's shell tests start.
add_executable(launcher_rank ${CMAKE_CURRENT_SOURCE_DIR}/launcher/rank_program.cpp)
target_link_libraries(launcher_rank PRIVATE tutti_runtime tutti_topo Threads::Threads)
add_executable(launcher_forbid ${CMAKE_CURRENT_SOURCE_DIR}/launcher/supervise/forbid.c)
add_executable(launcher_on_terminal ${CMAKE_CURRENT_SOURCE_DIR}/launcher/supervise/on_terminal.cpp)
add_executable(launcher_source_lines ${CMAKE_CURRENT_SOURCE_DIR}/launcher/diagnosis/source_lines_program.cpp)
target_link_libraries(launcher_source_lines PRIVATE tutti_launcher tutti_runtime tutti_topo tutti_topo_detect Threads::Threads)
set_target_properties(launcher_rank launcher_forbid launcher_on_terminal launcher_source_lines
  PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

# SPDX-License-Identifier: BSD-3-Clause
# The functions that arguments.cpp calls are those that mpi.h declares.
set(header ${CMAKE_SOURCE_DIR}/mpi_h/include/mpi.h)
set(generator ${CMAKE_CURRENT_SOURCE_DIR}/ranks/${topic}/prototypes.cmake)
set(prototypes ${CMAKE_CURRENT_BINARY_DIR}/prototypes)
add_custom_command(OUTPUT ${prototypes}/prototypes.inc
  COMMAND ${CMAKE_COMMAND} -E make_directory ${prototypes}
  COMMAND ${CMAKE_COMMAND} -DHEADER=${header} -DOUTPUT=${prototypes}/prototypes.inc -P ${generator}
  DEPENDS ${header} ${generator} COMMENT "Listing the functions of mpi.h" VERBATIM)
if(TARGET ranks_errors_arguments)
  target_sources(ranks_errors_arguments PRIVATE ${prototypes}/prototypes.inc)
  target_include_directories(ranks_errors_arguments PRIVATE ${prototypes})
endif()

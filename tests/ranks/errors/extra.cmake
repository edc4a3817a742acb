# SPDX-License-Identifier: BSD-3-Clause
# These programs call all functions that mpi.h declares.
foreach(program ranks_errors_arguments ranks_errors_call_words)
  if(TARGET ${program})
    target_link_libraries(${program} PRIVATE mpi_prototypes)
    add_dependencies(${program} mpi_prototypes_file)
  endif()
endforeach()

# SPDX-License-Identifier: BSD-3-Clause
# write_prototypes(HEADER OUTPUT) writes to OUTPUT one row for each function that HEADER (mpi.h) declares, sorted by
# name: FUNCTION(name, PARAMETER(type, name) …). Arrays become pointers. Used by the type Function
# (runtime/base/function.hpp), by call_words.cpp and by tests. Runs when the build is configured, which a change of
# HEADER repeats; OUTPUT is written only if it changes.
function(write_prototypes header output)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(READ ${header} text)
  string(REGEX REPLACE "/\\*([^*]|\\*[^/])*\\*/" " " text "${text}")
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(REGEX REPLACE "([A-Za-z_0-9]+)\\[\\](\\[3\\])?" "*\\1" text "${text}")   # brackets break CMake's lists
  string(REGEX MATCHALL "(int|double|void|MPI_[A-Za-z]+) MPII?_[A-Za-z_0-9]+\\([^(){};]*\\)" prototypes "${text}")

  set(rows "")
  foreach(prototype IN LISTS prototypes)
    string(REGEX MATCH "(MPII?_[A-Za-z_0-9]+)\\((.*)\\)$" all "${prototype}")
    set(row "FUNCTION(${CMAKE_MATCH_1},")
    string(REPLACE ", ..." "" parameters "${CMAKE_MATCH_2}")
    if(NOT parameters STREQUAL "void")
      string(REPLACE "," ";" parameters "${parameters}")
      foreach(parameter IN LISTS parameters)
        string(REGEX MATCH "^ *(.*[ *])([A-Za-z_0-9]+)$" all "${parameter}")
        string(STRIP "${CMAKE_MATCH_1}" type)
        string(APPEND row " PARAMETER(${type}, ${CMAKE_MATCH_2})")
      endforeach()
    endif()
    list(APPEND rows "${row})")
  endforeach()
  list(SORT rows)
  list(JOIN rows "\n" rows)

  # A function that these expressions miss would have no number.
  string(REGEX MATCHALL "\\(MPI_[A-Za-z_0-9]+\\) PMPI_" declared "${text}")
  foreach(declaration IN LISTS declared)
    string(REGEX MATCH "MPI_[A-Za-z_0-9]+" name "${declaration}")
    if(NOT rows MATCHES "FUNCTION\\(${name}[,)]")
      message(FATAL_ERROR "mpi.h declares ${name}, whose prototype was not understood")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "// Generated from mpi.h by prototypes.cmake.\n${rows}\n" @ONLY)
endfunction()

# SPDX-License-Identifier: BSD-3-Clause
# Installs the documents for users in share/doc/tutti, with the folders of the source tree. Links to files of the tree
# that are not installed become plain text, and pages with commands begin with a note. Runs when Tutti is installed:
# SOURCE is the source tree, SCRATCH a folder of the build; DOCUMENTS and PROGRAMS are folders of the prefix.
cmake_minimum_required(VERSION 3.22)   # the policies
set(patterns README.md CHANGELOG.md LICENSE SECURITY.md guides/*.md guides/*.svg guides/*.png apps/hello.c
  apps/lessons/README.md apps/lessons/*/*.* apps/bench/*.md apps/bench/*.svg coll/ALGORITHMS.md launcher/clusters.md
  mpi_h/build-systems.md)
set(note "*This copy belongs to an installation in a folder PREFIX. The following line makes a folder in which commands
run as printed here, except those that build Tutti, and the applications such as `tutti-cg`, which are in the source
tree only:*

    cp -r PREFIX/${DOCUMENTS} tutti && cd tutti && mkdir build && ln -s PREFIX/${PROGRAMS} build/bin
")
list(TRANSFORM patterns PREPEND ${SOURCE}/)
file(GLOB documents RELATIVE ${SOURCE} ${patterns})
string(RANDOM LENGTH 12 name)   # two installations may run at the same time
set(scratch ${SCRATCH}/${name})

foreach(document ${documents})
  cmake_path(GET document PARENT_PATH folder)
  if(NOT document MATCHES "[.]md$")
    file(COPY ${SOURCE}/${document} DESTINATION ${scratch}/${folder})
    continue()
  endif()
  file(READ ${SOURCE}/${document} text)
  string(REGEX MATCHALL "\\([A-Za-z0-9_./-]+[)#]" targets "${text}")   # also other words in parentheses
  list(REMOVE_DUPLICATES targets)
  foreach(target ${targets})
    string(REGEX REPLACE "^.(.*).$" "\\1" target ${target})
    cmake_path(APPEND folder ${target} OUTPUT_VARIABLE file)
    cmake_path(NORMAL_PATH file)
    if(EXISTS ${SOURCE}/${file} AND NOT file IN_LIST documents)
      string(REPLACE . "[.]" target ${target})
      string(REGEX REPLACE "\\[([^]]*)\\]\\(${target}(#[^)]*)?\\)" "\\1" text "${text}")
    endif()
  endforeach()
  if(document MATCHES "^(README|guides/.*)[.]md$")
    string(REGEX REPLACE "^(# [^\n]*\n\n)" "\\1${note}\n" text "${text}")
  endif()
  file(WRITE ${scratch}/${document} "${text}")
endforeach()
file(INSTALL ${scratch}/ DESTINATION ${CMAKE_INSTALL_PREFIX}/${DOCUMENTS})
file(REMOVE_RECURSE ${scratch})

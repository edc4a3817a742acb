# SPDX-License-Identifier: BSD-3-Clause
# Builds the corpus once, for all its tests. The C and C++ programs of a folder become one executable,
# tests/corpus/<wrong|right>/<folder>/cases (its main: cases.c). Fortran programs and those with a line "flags:" or
# "whole: REASON" in their head become separate executables, built by the compiler wrappers like a user's program.
#     diagnosis/<wrong|right>/<folder>         the programs of a folder
#     diagnosis/checked/<folder>               those of right/ under mpiexec --check
#     diagnosis/checked/wrong/communicators    those of wrong/: with --check, more calls wait for all ranks
#     diagnosis/hosts/<wrong|right>/<folder>   some of them with their ranks on two hosts
#     diagnosis/mpirun/<wrong|right>/<folder>  some of them under Open MPI's mpirun
#     diagnosis/hosts/four/<wrong|right>       the same on four hosts; only with --all
# The Fortran programs of all folders are in .../fortran, because they need gfortran and MPICH's modules.
if(NOT TARGET mpi)
  return()
endif()
set(corpus ${CMAKE_BINARY_DIR}/tests/corpus)
add_library(corpus_main OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/diagnosis/cases.c)
add_custom_target(corpus ALL)
add_dependencies(corpus mpiexec tutti_preload mpich)
execute_process(COMMAND ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/mpifort -showme:compile OUTPUT_QUIET ERROR_QUIET
  RESULT_VARIABLE no_modules)
find_program(gfortran gfortran)
set(package_for_fortran "")   # the missing package
if(NOT gfortran)
  set(package_for_fortran gfortran)
elseif(NOT no_modules EQUAL 0)
  set(package_for_fortran libmpich-dev)
endif()

# Builds one program as a separate executable, whose name is that of the source with "_" for ".".
function(add_whole_program source)
  file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR}/diagnosis ${source})
  string(REPLACE . _ name ${name})
  string(REGEX MATCH "[^.]*$" suffix ${source})
  set(wrapper_c mpicc)
  set(wrapper_cpp mpicxx)
  set(wrapper_f90 mpifort)
  read_directive(${source} flags flags)
  cmake_path(GET name PARENT_PATH folder)
  file(MAKE_DIRECTORY ${corpus}/${folder})
  add_custom_command(OUTPUT ${corpus}/${name} VERBATIM
    COMMAND ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${wrapper_${suffix}} -g -w ${flags} ${source} -o ${corpus}/${name} -lpthread -lm
    DEPENDS ${source} ${CMAKE_BINARY_DIR}/include/mpi.h)
  set_property(GLOBAL APPEND PROPERTY whole_programs ${corpus}/${name})
endfunction()

# Builds the executable of a folder. Its C programs are compiled as one file, its C++ programs as another one, because
# starting the compiler takes most of the time for one program. Their main functions are renamed to main_<program>.
function(add_folded_programs folder sources)
  string(MAKE_C_IDENTIFIER corpus_${folder} target)
  set(table "struct Case {\n    char const* name;\n    int (*main)(int argc, char** argv);\n};\nstruct Case const cases[] = {\n")
  foreach(source ${sources})
    cmake_path(GET source STEM name)
    cmake_path(GET source EXTENSION suffix)
    if(suffix STREQUAL .cpp)
      string(APPEND text.c "int main_${name}(int argc, char** argv);\n")
      string(APPEND text.cpp "extern \"C\" int main_${name}(int argc, char** argv);\n")
    endif()
    string(APPEND text${suffix} "#define main main_${name}\n#include \"${source}\"\n#undef main\n")
    string(APPEND table "    {\"${name}\", main_${name}},\n")
  endforeach()
  string(APPEND text.c "${table}    {0, 0}};\n")
  add_executable(${target} $<TARGET_OBJECTS:corpus_main>)
  foreach(suffix .c .cpp)
    if(text${suffix})
      set(file ${corpus}/${folder}/cases${suffix})
      file(CONFIGURE OUTPUT ${file} CONTENT "${text${suffix}}" @ONLY)
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS -g)
      target_sources(${target} PRIVATE ${file})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${corpus}/${folder} OUTPUT_NAME cases
    CXX_STANDARD 17 CXX_EXTENSIONS ON LINK_DEPENDS_NO_SHARED ON)
  # Options for debugging. A main() under another name does not return 0 implicitly.
  target_compile_options(${target} PRIVATE -O0 -Wno-all -Wno-extra -Werror=return-type)
  target_link_libraries(${target} PRIVATE mpi Threads::Threads m)
  add_dependencies(corpus ${target})
endfunction()

function(add_corpus_folder folder)
  set(source_folder ${CMAKE_CURRENT_SOURCE_DIR}/diagnosis/${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${source_folder}/*.c ${source_folder}/*.cpp)
  file(GLOB fortran_sources CONFIGURE_DEPENDS ${source_folder}/*.f90)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})   # their head comments are read
  set(folded "")
  foreach(source ${sources})
    file(STRINGS ${source} alone LIMIT_COUNT 20 REGEX "^// (whole|flags):")
    if(alone)
      add_whole_program(${source})
    else()
      list(APPEND folded ${source})
    endif()
  endforeach()
  if(folded)
    add_folded_programs(${folder} "${folded}")
  endif()
  if(NOT package_for_fortran)
    foreach(source ${fortran_sources})
      add_whole_program(${source})
    endforeach()
  endif()
endfunction()

# add_corpus_test(NAME AREA [OPTIONS OF run_corpus.py])
function(add_corpus_test name)
  set(run python3 ${CMAKE_CURRENT_SOURCE_DIR}/diagnosis/run_corpus.py)
  set(labels diagnosis)
  if(name MATCHES hosts/)
    set(run bash ${CMAKE_CURRENT_SOURCE_DIR}/diagnosis/hosts.sh)
    set(hosts 2)
    if(name MATCHES four/)
      set(hosts 4)
      list(APPEND labels in_all)   # two hosts find most of the same errors
    endif()
  endif()
  if(name MATCHES "/fortran$")
    list(APPEND labels foreign)
    if(package_for_fortran)
      set(run sh -c "echo skipped: package ${package_for_fortran} is not installed; exit 77")
    endif()
  endif()
  add_test(NAME diagnosis/${name} COMMAND ${run} ${CMAKE_BINARY_DIR} ${hosts} ${ARGN} --jobs 2)
  set_tests_properties(diagnosis/${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77 TARGETS corpus)
endfunction()

foreach(kind wrong right)
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true
    RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/diagnosis ${CMAKE_CURRENT_SOURCE_DIR}/diagnosis/${kind}/*)
  foreach(folder ${folders})
    add_corpus_folder(${folder})
    add_corpus_test(${folder} ${folder})
    if(kind STREQUAL right)
      string(REPLACE right checked checked ${folder})
      add_corpus_test(${checked} ${folder} --check)
    endif()
  endforeach()
endforeach()
add_corpus_test(checked/wrong/communicators wrong/communicators --check)
get_property(whole_programs GLOBAL PROPERTY whole_programs)
add_custom_target(corpus_whole DEPENDS ${whole_programs})
add_dependencies(corpus_whole mpi mpich)
add_dependencies(corpus corpus_whole)

find_program(openmpi_mpirun mpirun.openmpi)
foreach(area wrong/errors wrong/ends wrong/leftovers wrong/collectives wrong/circles wrong/threads wrong/requests
             right/errors right/ends right/leftovers right/threads right/progress)
  if(openmpi_mpirun)
    add_corpus_test(mpirun/${area} ${area} --under "${openmpi_mpirun} --allow-run-as-root --oversubscribe")
  else()
    add_test(NAME diagnosis/mpirun/${area} COMMAND sh -c "echo skipped: package openmpi-bin is not installed; exit 77")
    set_tests_properties(diagnosis/mpirun/${area} PROPERTIES LABELS diagnosis SKIP_RETURN_CODE 77)
  endif()
endforeach()

set(both collectives communicators ends leftovers messages types)
set(on_hosts_wrong ${both} arguments_of_collectives circles requests input)
set(on_hosts_right ${both} late progress windows epochs races)
foreach(kind wrong right)
  foreach(folder ${on_hosts_${kind}})
    add_corpus_test(hosts/${kind}/${folder} ${kind}/${folder})
  endforeach()
  list(TRANSFORM on_hosts_${kind} APPEND / OUTPUT_VARIABLE only)
  list(JOIN only , only)
  add_corpus_test(hosts/${kind}/fortran ${kind}/fortran --only ${only})
  list(TRANSFORM on_hosts_${kind} PREPEND ${kind}/)
  add_corpus_test(hosts/four/${kind} ${on_hosts_${kind}})
endforeach()
add_corpus_test(hosts/wrong/epochs wrong/epochs --only fence_one_more_checked)   # compares call records of all nodes
add_corpus_test(hosts/wrong/buffers wrong/buffers)
# Programs whose buffers are on one rank: a warning about ranks of two hosts may lack the line of one of them.
add_corpus_test(hosts/wrong/windows wrong/windows --only
  put_from,put_of,rput,get_overwritten,two_gets,accumulate_in,send_of,fetched,swapped)

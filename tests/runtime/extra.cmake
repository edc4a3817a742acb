# SPDX-License-Identifier: BSD-3-Clause
# A replacement for libxpmem.so.0, loaded by its path in unit tests and through LD_LIBRARY_PATH in jobs.
add_library(fake_xpmem SHARED ${CMAKE_CURRENT_SOURCE_DIR}/runtime/memory/fake_xpmem.c)
set_target_properties(fake_xpmem PROPERTIES OUTPUT_NAME xpmem SOVERSION 0 C_VISIBILITY_PRESET default
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fake_xpmem)
function(use_fake_xpmem tests)
  if(TARGET ${tests})
    target_compile_definitions(${tests} PRIVATE FAKE_XPMEM="${CMAKE_BINARY_DIR}/tests/fake_xpmem/libxpmem.so.0")
    add_dependencies(${tests} fake_xpmem)
  endif()
endfunction()
use_fake_xpmem(tests_runtime)

# The operator new that counts and refuses allocations.
if(TARGET tests_runtime)
  target_sources(tests_runtime PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/coll/world/allocations.cpp)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/coll/world/allocations.cpp PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
endif()

# tutti-daemon, a link to mpiexec, detects machines; the library expects it in its own folder.
if(TARGET tests_runtime AND TARGET mpiexec)
  add_dependencies(tests_runtime mpiexec)
endif()

# SPDX-License-Identifier: BSD-3-Clause
# Every algorithm on one node once more, for ThreadEnv only: see as_thread_algorithms.hpp.
if(TARGET tests_coll_threads)
  file(GLOB_RECURSE algorithms CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/coll/algorithms/*.cpp)
  list(FILTER algorithms EXCLUDE REGEX "/between_nodes[^/]*[.]cpp$")
  add_library(thread_algorithms OBJECT ${algorithms})
  allow_unity_build(thread_algorithms)
  target_compile_options(thread_algorithms PRIVATE ${test_options})
  target_precompile_headers(thread_algorithms PRIVATE ${CMAKE_SOURCE_DIR}/coll/blocks/messages.hpp
    ${CMAKE_SOURCE_DIR}/coll/blocks/exchange.hpp ${CMAKE_SOURCE_DIR}/coll/blocks/reducer.hpp
    ${CMAKE_CURRENT_SOURCE_DIR}/coll/threads/as_thread_algorithms.hpp)   # last, because it renames
  file(GLOB environment CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/coll/threads/*.cpp)
  list(FILTER environment EXCLUDE REGEX "_test.cpp$")
  target_sources(tests_coll_threads PRIVATE ${environment})
  # these sources define names that other sources define, too
  foreach(alone messages mpich neighbors xhc)
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/coll/threads/${alone}_test.cpp PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  if(TUTTI_SANITIZE MATCHES thread)   # the scheduler belongs to no rank
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/coll/threads/ranks.cpp PROPERTIES
      COMPILE_OPTIONS -fno-sanitize=thread COMPILE_DEFINITIONS USES_TSAN_FIBERS SKIP_PRECOMPILE_HEADERS ON)
  endif()
  target_link_libraries(tests_coll_threads PRIVATE thread_algorithms coll_world)
endif()

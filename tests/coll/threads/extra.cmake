# SPDX-License-Identifier: BSD-3-Clause
# Every algorithm of one node once more, for the environment of threads alone: see as_thread_algorithms.hpp.
if(TARGET tests_coll_threads)
  file(GLOB_RECURSE algorithms CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/coll/algorithms/*.cpp)
  list(FILTER algorithms EXCLUDE REGEX "/between_nodes/")
  add_library(thread_algorithms OBJECT ${algorithms})
  compile_in_lots(thread_algorithms h p z)
  target_precompile_headers(thread_algorithms PRIVATE ${CMAKE_SOURCE_DIR}/coll/blocks/messages/messages.hpp
    ${CMAKE_SOURCE_DIR}/coll/blocks/exchange/exchange.hpp ${CMAKE_SOURCE_DIR}/coll/blocks/reduce/reducer.hpp
    ${CMAKE_CURRENT_SOURCE_DIR}/coll/threads/as_thread_algorithms.hpp)   # the last: it renames
  target_sources(tests_coll_threads PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/coll/threads/thread_algorithms.cpp)
  target_link_libraries(tests_coll_threads PRIVATE thread_algorithms)
endif()

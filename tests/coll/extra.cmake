# SPDX-License-Identifier: BSD-3-Clause
use_fake_xpmem(tests_coll)

# Compiled once and shared by the tests of collectives: the cases, their checks and their drivers.
if(TARGET tests_coll)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/coll/world/*.cpp)
  add_library(coll_world OBJECT ${sources})
  allow_unity_build(coll_world)
  target_link_libraries(coll_world PRIVATE GTest::gmock)
  target_compile_options(coll_world PRIVATE ${test_options})
  target_precompile_headers(coll_world REUSE_FROM test_headers)
  target_link_libraries(tests_coll PRIVATE coll_world)
endif()

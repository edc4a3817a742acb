# SPDX-License-Identifier: BSD-3-Clause
use_fake_xpmem(tests_p2p)

# The operator new that counts and refuses allocations.
if(TARGET tests_p2p)
  target_sources(tests_p2p PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/coll/world/allocations.cpp)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/coll/world/allocations.cpp PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
endif()

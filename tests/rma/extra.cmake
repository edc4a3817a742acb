# SPDX-License-Identifier: BSD-3-Clause
# An operator new that counts allocations and can fail.
if(TARGET tests_rma)
  target_sources(tests_rma PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/coll/world/allocations.cpp)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/coll/world/allocations.cpp PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
endif()

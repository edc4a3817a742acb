# SPDX-License-Identifier: BSD-3-Clause
# fuzz/frame: the corpus and mutations of it, with any compiler. frame_fuzz: the same target under libFuzzer, built only
# on request and if clang is installed.
set(frame_sources ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/frame_fuzz.cpp)
add_executable(frame_corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run_corpus.cpp ${frame_sources})
target_link_libraries(frame_corpus PRIVATE ${uses_p2p} Threads::Threads)
set_target_properties(frame_corpus PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_dependencies(unit_and_rank_tests frame_corpus)
add_test(NAME fuzz/frame COMMAND frame_corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/frame 50000)
set_tests_properties(fuzz/frame PROPERTIES LABELS unit TARGETS frame_corpus)

find_program(TUTTI_CLANG clang++)
if(TUTTI_CLANG)
  set(fuzzed ${frame_sources} ${CMAKE_SOURCE_DIR}/p2p/tcp/frame.cpp ${CMAKE_SOURCE_DIR}/p2p/tcp/handshake.cpp)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/tests/fuzz_frame
    COMMAND ${TUTTI_CLANG} -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -I${CMAKE_SOURCE_DIR} ${fuzzed}
            -lsodium -o ${CMAKE_BINARY_DIR}/tests/fuzz_frame
    DEPENDS ${fuzzed} ${CMAKE_SOURCE_DIR}/p2p/tcp/frame.hpp ${CMAKE_SOURCE_DIR}/p2p/tcp/handshake.hpp VERBATIM)
  add_custom_target(frame_fuzz DEPENDS ${CMAKE_BINARY_DIR}/tests/fuzz_frame)
endif()

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Each preset of CMakePresets.json can be configured, its targets exist, and its tests are chosen from existing ones. The
# folders of the presets are made in a copy of the tree that consists of links.
. "$(dirname "$0")/common.sh" "$1"
is_sanitized && skip "covered by the plain build"
mkdir "$folder/tree"
for entry in "$source"/* "$source/.ci"; do
    [[ ${entry##*/} == build* ]] || ln -s "$entry" "$folder/tree/"
done
cd "$folder/tree" || exit 1
names() { "$@" | sed -n 's/^  "\([^"]*\)".*/\1/p'; }
ninja_knows() { cmake --build --preset "$1" -- -n >"$folder/log" 2>&1; }   # a dry run

[ "$(names cmake --list-presets | tr '\n' ' ')" = "release dev asan tsan " ] || wrong "presets: $(cmake --list-presets)"
[ "$(names cmake --build --list-presets)" = "$(names cmake --list-presets)" ] || wrong "a preset cannot be built"
for preset in $(names cmake --list-presets); do
    cmake --preset "$preset" >"$folder/log" 2>&1 || wrong "cmake --preset $preset: $(cat "$folder/log")"
    ninja_knows "$preset" || wrong "cmake --build --preset $preset: $(cat "$folder/log")"
done
for preset in $(names ctest --list-presets); do
    ctest --preset "$preset" -N >"$folder/log" 2>&1
    grep -qE '^Total Tests: [1-9]' "$folder/log" || wrong "ctest --preset $preset chooses no test: $(cat "$folder/log")"
done
for setting in build:TUTTI_TESTS=OFF build-dev:CMAKE_UNITY_BUILD=OFF build-dev:CMAKE_COMPILE_WARNING_AS_ERROR=ON \
    build-dev:CMAKE_BUILD_TYPE=RelWithDebInfo build-asan:TUTTI_SANITIZE=address,undefined build-tsan:TUTTI_SANITIZE=thread; do
    value=${setting#*:}
    grep -qE "^${value%%=*}:[A-Z]+=${value#*=}\$" "${setting%%:*}/CMakeCache.txt" || wrong "$setting is not set"
done
finish

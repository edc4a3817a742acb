#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/one.sh builds and runs a test after a build without tests, in a copy of the tree that consists of links.
# build/tests/targets lists every test, with targets that exist.
# cores: 2
. "$(dirname "$0")/common.sh" "$1"
is_sanitized && skip "covered by the plain build"
differences=$(diff <(ctest --test-dir "$build" -N | sed -n 's/^ *Test *#[0-9]*: //p' | sort) \
    <(cut -d ' ' -f 1 "$build/tests/targets" | sort)) || wrong "tests/targets does not list the tests: $differences"
mapfile -t targets < <(cut -d ' ' -f 2- "$build/tests/targets" | tr ' ' '\n' | sort -u)
[ "${#targets[@]}" -gt 20 ] || wrong "only these targets: ${targets[*]}"
ninja -C "$build" -n "${targets[@]}" >"$folder/log" 2>&1 || wrong "a target does not exist: $(cat "$folder/log")"

mkdir "$folder/tree"
for entry in "$source"/*; do
    [[ ${entry##*/} == build* ]] || ln -s "$entry" "$folder/tree/"
done
rm "$folder/tree/tests" && cp -r "$source/tests" "$folder/tree/"   # the scripts find the tree relative to themselves
cd "$folder/tree" || exit 1
cmake -G Ninja -B build -DCMAKE_UNITY_BUILD=ON -DTUTTI_TESTS=OFF . >"$folder/log" 2>&1 || wrong "cmake: $(cat "$folder/log")"
tests/one.sh unit/topo >"$folder/log" 2>&1
grep -qE ' unit/topo \.+ +Passed ' "$folder/log" || wrong "tests/one.sh unit/topo: $(cat "$folder/log")"
[ ! -e build/bin/mpiexec ] || wrong "tests/one.sh has built more than the test needs"
tests/one.sh no/such/test >"$folder/log" 2>&1 && wrong "tests/one.sh accepts a test that does not exist"
grep -q 'FAILED: no test has a name that matches no/such/test' "$folder/log" || wrong "no/such/test: $(cat "$folder/log")"
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# coverage.sh [CTEST OPTIONS]: builds the tree for gcov in build-coverage, runs the plain tests (or those that the
# options choose), and prints how many lines and branches of each folder they reach; build-coverage/coverage.json has
# every line. Ranks that are killed write no counts, so code that runs only in them counts as not reached.
set -u
case ${1:-} in
-h | --help) sed -n '3,5s/^# //p' "$0"; exit 0 ;;
esac
# shellcheck source=tests/runner.sh
. "$(dirname "$0")/runner.sh"
jobs=$(default_jobs)
start_results
install_groups build test peers coverage || { broken "installing packages"; finish; }
prepare_scratch

title "Build"
flags="--coverage -fprofile-update=atomic -DTUTTI_COVERAGE"
configure_and_build build-coverage -- -DCMAKE_BUILD_TYPE=Coverage -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_CXX_FLAGS_COVERAGE=-O1 -DCMAKE_C_FLAGS_COVERAGE=-O1 || finish
find build-coverage -name '*.gcda' -delete
# Programs that a test runs as another user also write their counts into this folder.
chmod -R a+rwX build-coverage
umask 0
title "Tests"
[ $# -gt 0 ] || set -- -LE '^(foreign|in_all)$'
run_tests build-coverage "$@"

title "Coverage"
gcovr --root . --object-directory build-coverage -j "$jobs" --exclude tests --exclude build-coverage \
    --exclude-throw-branches --json-summary build-coverage/summary.json --json build-coverage/coverage.json \
    >build-coverage/gcovr.log 2>&1 || broken "gcovr (see build-coverage/gcovr.log)"
python3 - build-coverage/summary.json <<'END'
import collections, json, sys
folders = collections.defaultdict(lambda: [0, 0, 0, 0])
for file in json.load(open(sys.argv[1]))["files"]:
    for folder in {file["filename"].split("/")[0], "/".join(file["filename"].split("/")[:-1])}:
        for k, key in enumerate(("line_covered", "line_total", "branch_covered", "branch_total")):
            folders[folder][k] += file[key]
print(f"{'folder':40} {'lines':>7} {'reached':>8} {'branches':>9} {'reached':>8}")
for folder, (lines, all_lines, branches, all_branches) in sorted(folders.items()):
    share = lambda part, whole: f"{100 * part / whole:7.1f}%" if whole else "      --"
    print(f"{folder:40} {all_lines:7} {share(lines, all_lines)} {all_branches:9} {share(branches, all_branches)}")
END
check_leftovers
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# stress.sh NAME [N]: builds a test and runs it N times (default: 10) while two other processes keep cores busy, and stops
# at the first failure. NAME is a regular expression for names of tests (`ctest -N --test-dir build` lists them).
set -u
case ${1:-} in
'' | -h | --help) sed -n '3,4s/^# //p' "$0"; exit 0 ;;
esac
# shellcheck source=tests/runner.sh
. "$(dirname "$0")/runner.sh"
name=$1 times=${2:-10} jobs=$(default_jobs)
start_results
prepare_scratch
build_tests "$name" || finish
jobs=1
busy=()
for _ in 1 2; do
    setsid env -u TEST_RUN_MARK sh -c 'while :; do :; done' &
    busy+=($!)
done
trap 'kill "${busy[@]}"; rm -rf "$TMPDIR"' EXIT
title "$name, $times times while two processes keep cores busy"
run_tests build -R "$name" --repeat "until-fail:$times"
check_leftovers
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# 256 ranks succeed. If one of them is killed during allreduces, mpiexec prints one message and one report, and no other
# rank is left.
. "$(dirname "$0")/../common.sh" "$1"
program=$build/tests/ranks_launcher_allreduces

run -n 256 "$program"; expect_code 0; expect_out ""; expect_silence
# a limit of open files
what="mpiexec with few files"
err=$(ulimit -n 20; "$mpiexec" -n 64 "$program" 2>&1); code=$?; expect_code 1
expect_err "Too many open files; ulimit -n prints the limit, ulimit -n NUMBER raises it."
for world in "256 128" "32 0" "32 31"; do
    read -r ranks victim <<< "$world"
    run -n "$ranks" "$program" "$victim" 50; expect_code 137; expect_out ""
    expect_err "rank $victim was killed by signal 9"
    [ "$(grep -c "^mpiexec: rank" < "$folder/err")" = 0 ] && [ "$(grep -c "^error" < "$folder/err")" = 1 ] ||
        wrong "$what printed more than a report: $err"
    expect_nothing_left
done
finish

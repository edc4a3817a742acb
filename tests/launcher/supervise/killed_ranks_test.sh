#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank killed with kill -9 at a random moment, 100 times: mpiexec has gone within a second, says who it was, and
# nothing is left.
. "$(dirname "$0")/../common.sh" "$1"
program=("$rank" init sleep 60)
[ -x "$build/tests/ranks_launcher_chatter" ] && program=("$build/tests/ranks_launcher_chatter" 60)

for i in $(seq 100); do
    "$mpiexec" -n 4 "${program[@]}" > /dev/null 2> "$folder/err" < /dev/null & pid=$!
    sleep "0.0$((RANDOM % 9))$((RANDOM % 10))"
    victim=$((RANDOM % 4)); target=
    while [ -z "$target" ] && kill -0 $pid 2> /dev/null; do
        target=$(pgrep -P $pid -f "^${program[0]}" | sed -n "$((victim + 1))p")
    done
    kill -KILL "$target" 2> /dev/null || wrong "round $i: nobody to kill"
    start=$(date +%s%N); wait $pid; code=$?; ms=$((($(date +%s%N) - start) / 1000000))
    what="round $i"; expect_code 137; expect_within 1000
    grep -q "process $target, was killed by signal 9" "$folder/err" || wrong "round $i: $(cat "$folder/err")"
done
left=$(pgrep -fc "^${program[*]}\$"); [ "$left" = 0 ] || wrong "$left processes are left"
finish

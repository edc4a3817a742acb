#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank is killed by SIGKILL at a random moment, 40 times: mpiexec ends and names the rank once, and no process is left.
. "$(dirname "$0")/../common.sh" "$1"
program=("$build/tests/ranks_launcher_chatter" "$nap")

for i in $(seq 40); do
    "$mpiexec" -n 4 "${program[@]}" > /dev/null 2> "$folder/err" < /dev/null & pid=$!
    sleep "0.0$((RANDOM % 9))$((RANDOM % 10))"
    victim=$((RANDOM % 4)); target=
    while [ -z "$target" ] && kill -0 $pid 2> /dev/null; do
        target=$(pgrep -P $pid -f "^${program[0]}" | sed -n "$((victim + 1))p")
    done
    kill -KILL "$target" 2> /dev/null || wrong "round $i: there was no rank to kill"
    ended "$pid" "round $i" 137
    [ "$(grep -c "was killed by" "$folder/err")" = 1 ] && grep -q "was killed by signal 9" "$folder/err" && grep -q "process $target\(,\| on\)" "$folder/err" || wrong "round $i: $(cat "$folder/err")"
done
what="killing ranks"; expect_nothing_left
finish

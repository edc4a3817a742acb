#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Kills a rank with SIGKILL during a storm of one-sided operations, when it may hold locks that other ranks wait for:
# the job ends with a message that names the rank, and leaves no processes or segments. The second argument is the
# number of rounds (default: 10).
# cores: 2
. "$(dirname "$0")/../launcher/common.sh" "$1"
storm=$build/tests/ranks_rma_storm
segments() { find /dev/shm -maxdepth 1 -name 'tutti*' 2> /dev/null | sort; }
before=$(segments)

in_storm() { [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l)" -gt 4 ]; }   # the four threads have started

for i in $(seq "${2:-10}"); do
    "$mpiexec" -n 8 "$storm" "$i" 0 > /dev/null 2> "$folder/err" < /dev/null & pid=$!
    victim=$((RANDOM % 8)); target=
    while [ -z "$target" ] && kill -0 $pid 2> /dev/null; do
        target=$(pgrep -P $pid -f "^$storm" | sed -n "$((victim + 1))p")
    done
    wait_until in_storm "$target"
    sleep "0.$((RANDOM % 6))$((RANDOM % 10))"
    kill -KILL "$target" 2> /dev/null || wrong "round $i: there was no rank to kill: $(cat "$folder/err")"
    ended "$pid" "round $i" 137
    [ "$(grep -c "was killed by signal 9" <<< "$err")" = 1 ] && grep -q "process $target on" <<< "$err" || wrong "round $i: $err"
    expect_nothing_left
done
[ "$(segments)" = "$before" ] || wrong "left in /dev/shm: $(segments)"
finish

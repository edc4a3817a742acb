#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank killed with kill -9 in the midst of a storm of one-sided operations, who may hold locks that others wait for: the
# job has ended within seconds with a sentence that says who it was, and nothing is left. So often as the second argument
# says (10).
. "$(dirname "$0")/../launcher/common.sh" "$1"
storm=$build/tests/ranks_rma_storm
[ -x "$storm" ] || { echo "there is no $storm"; exit 77; }
segments() { find /dev/shm -maxdepth 1 -name 'tutti*' 2> /dev/null | sort; }
before=$(segments)

for i in $(seq "${2:-10}"); do
    "$mpiexec" -n 8 "$storm" "$i" 0 > /dev/null 2> "$folder/err" < /dev/null & pid=$!
    victim=$((RANDOM % 8)); target=
    while [ -z "$target" ] && kill -0 $pid 2> /dev/null; do
        target=$(pgrep -P $pid -f "^$storm" | sed -n "$((victim + 1))p")
    done
    sleep "0.$((RANDOM % 6))$((RANDOM % 10))"
    kill -KILL "$target" 2> /dev/null || wrong "round $i: nobody to kill: $(cat "$folder/err")"
    start=$(date +%s%N); wait $pid; code=$?; ms=$((($(date +%s%N) - start) / 1000000))
    err=$(cat "$folder/err"); what="round $i"
    expect_code 137; expect_within 5000
    [ "$(grep -c "^mpiexec: " <<< "$err")" = 1 ] && grep -q "process $target, was killed by signal 9" <<< "$err" || wrong "round $i: $err"
    for _ in $(seq 50); do pgrep -f "^$storm $i 0\$" > /dev/null || break; sleep 0.1; done
    pgrep -f "^$storm $i 0\$" > /dev/null && wrong "round $i: processes are left"
done
[ "$(segments)" = "$before" ] || wrong "left in /dev/shm: $(segments)"
finish

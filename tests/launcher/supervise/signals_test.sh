#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Signals to mpiexec, and ends of jobs whose mpiexec is killed.
. "$(dirname "$0")/../common.sh" "$1"
set -m   # background jobs get their own group and do not ignore SIGINT

# start SCRIPT: two ranks run it; waits until each has printed "here". Sets $pid.
start() {
    : > "$folder/out"
    "$mpiexec" -n 2 bash -c "$1" > "$folder/out" 2> "$folder/err" < /dev/null & pid=$!
    wait_until all_printed here
}
all_printed() { [ "$(grep -c "$1" "$folder/out")" = 2 ]; }
all_ranks_printed() { [ "$(grep -c "$1" "$folder/out")" = 2 ] || wrong "not every rank printed '$1': $(cat "$folder/out")"; }
waiting='while true; do sleep 0.05; done'
# Waits until the process of each rank is in this state (of ps).
all_are() { [ "$(ps -o stat= -p "$(pgrep -d, -P "$pid" bash)" | cut -c1 | sort -u)" = "$1" ]; }
two_nap() { [ "$(sleepers | wc -l)" = 2 ]; }
none_is_stopped() { ! ps -o stat= -p "$(pgrep -d, -P "$pid" bash)" | grep -q '^T'; }

for signal in INT TERM HUP; do
    start "trap 'echo got $signal; exit 0' $signal; echo here; $waiting"
    kill -$signal $pid; ended "$pid" "SIG$signal to tidy ranks" 0; all_ranks_printed "got $signal"
done
for signal in USR1 USR2; do
    start "trap 'echo got $signal; exit 0' $signal; echo here; $waiting"
    kill -$signal $pid; ended "$pid" "SIG$signal" 0; all_ranks_printed "got $signal"
done
start "echo here; exec sleep $nap"; kill -USR1 $pid
wait_until grep -q "no rank has waited" "$folder/err"
kill -0 $pid || wrong "SIGUSR1 ended ranks that have no handler for it"
kill -INT $pid; ended "$pid" "SIGINT" 130
start "echo here; exec sleep $nap"; kill -TERM $pid; ended "$pid" "SIGTERM" 143
[ -s "$folder/err" ] && wrong "SIGTERM from outside needs no message: $(cat "$folder/err")"
# the first SIGINT is forwarded and the job continues; a second one, sent after the first was read, ends it
start "trap 'echo got INT' INT; echo here; $waiting"; kill -INT $pid
wait_until all_printed "got INT"; kill -0 $pid || wrong "the first SIGINT ended ranks that handle it"
kill -INT $pid; ended "$pid" "the second SIGINT" 130

# stops and continues the whole job; with a trap, because bash loses a SIGINT that arrives while a child ends
start "trap 'exit 130' INT; echo here; $waiting"; kill -TSTP $pid; wait_until all_are T
kill -CONT $pid; wait_until none_is_stopped
kill -INT $pid; ended "$pid" "SIGINT after SIGCONT" 130

# mpiexec is killed: ranks and processes that they started end
start "sleep $nap & (setsid sleep $nap &); trap '' TERM; echo here; $waiting"
kill -KILL $pid; ended "$pid" "kill -9 of mpiexec" 137; expect_nothing_left

# also processes with a cleaned environment, as the library sets it for children of a rank
start "env -i sleep $nap & echo here; $waiting"; wait_until two_nap; kill -KILL $pid
ended "$pid" "kill -9 of mpiexec, with a process without environment," 137; expect_nothing_left
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Signals to mpiexec, and what happens when it is killed itself.
. "$(dirname "$0")/../common.sh" "$1"
set -m   # background jobs get their own group and do not ignore SIGINT

# start SCRIPT: two ranks run it; waits until each has said that it is there. Leaves $pid.
start() {
    : > "$folder/out"
    "$mpiexec" -n 2 bash -c "$1" > "$folder/out" 2> "$folder/err" < /dev/null & pid=$!
    wait_until all_said here
}
all_said() { [ "$(grep -c "$1" "$folder/out")" = 2 ]; }
said() { [ "$(grep -c "$1" "$folder/out")" = 2 ] || wrong "not every rank said '$1': $(cat "$folder/out")"; }
waiting='while true; do sleep 0.05; done'
# Waits until each rank's process is in that state, as ps names it.
all_are() { [ "$(ps -o stat= -p "$(pgrep -d, -P "$pid" bash)" | cut -c1 | sort -u)" = "$1" ]; }
two_nap() { [ "$(napping | wc -l)" = 2 ]; }
none_is_stopped() { ! ps -o stat= -p "$(pgrep -d, -P "$pid" bash)" | grep -q '^T'; }

for signal in INT TERM HUP; do
    start "trap 'echo got $signal; exit 0' $signal; echo here; $waiting"
    kill -$signal $pid; ended "$pid" "SIG$signal to tidy ranks" 0; said "got $signal"
done
for signal in USR1 USR2; do
    start "trap 'echo got $signal; exit 0' $signal; echo here; $waiting"
    kill -$signal $pid; ended "$pid" "SIG$signal" 0; said "got $signal"
done
start "echo here; exec sleep $nap"; kill -USR1 $pid
wait_until grep -q "no rank has waited" "$folder/err"
kill -0 $pid || wrong "SIGUSR1 ended ranks that have no handler for it"
kill -INT $pid; ended "$pid" "SIGINT" 130
start "echo here; exec sleep $nap"; kill -TERM $pid; ended "$pid" "SIGTERM" 143
[ -s "$folder/err" ] && wrong "SIGTERM from outside needs no sentence: $(cat "$folder/err")"
# the first SIGINT is passed on and the job goes on; a second one, which may not come before the first has been read, ends it
start "trap 'echo got INT' INT; echo here; $waiting"; kill -INT $pid
wait_until all_said "got INT"; kill -0 $pid || wrong "the first SIGINT ended ranks that go on after it"
kill -INT $pid; ended "$pid" "the second SIGINT" 130

# stopping and continuing the whole job; with a trap, for bash forgets a SIGINT that comes as a child of its ends
start "trap 'exit 130' INT; echo here; $waiting"; kill -TSTP $pid; wait_until all_are T
kill -CONT $pid; wait_until none_is_stopped
kill -INT $pid; ended "$pid" "SIGINT after SIGCONT" 130

# mpiexec killed: nothing stays, neither ranks nor what they started
start "sleep $nap & (setsid sleep $nap &); trap '' TERM; echo here; $waiting"
kill -KILL $pid; ended "$pid" "kill -9 of mpiexec" 137; expect_nothing_left

# also what has cleaned its environment, as the library does for a rank's own children
start "env -i sleep $nap & echo here; $waiting"; wait_until two_nap; kill -KILL $pid
ended "$pid" "kill -9 of mpiexec, with a process without environment," 137; expect_nothing_left
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Signals to mpiexec, and what happens when it is killed itself.
. "$(dirname "$0")/../common.sh" "$1"
set -m   # background jobs get their own group and do not ignore SIGINT

# start SCRIPT: two ranks run it; waits until each has said that it is there. Leaves $pid.
start() {
    : > "$folder/out"
    "$mpiexec" -n 2 bash -c "$1" > "$folder/out" 2> "$folder/err" < /dev/null & pid=$!
    for _ in $(seq 100); do [ "$(grep -c here "$folder/out")" = 2 ] && return; sleep 0.05; done
    wrong "'$1' did not start"
}
ended() { wait "$pid" 2> /dev/null; code=$?; what=$1; expect_code "$2"; }
said() { [ "$(grep -c "$1" "$folder/out")" = 2 ] || wrong "not every rank said '$1': $(cat "$folder/out")"; }
waiting='while true; do sleep 0.05; done'

for signal in INT TERM HUP; do
    start "trap 'echo got $signal; exit 0' $signal; echo here; $waiting"
    kill -$signal $pid; ended "SIG$signal to tidy ranks" 0; said "got $signal"
done
for signal in USR1 USR2; do
    start "trap 'echo got $signal; exit 0' $signal; echo here; $waiting"
    kill -$signal $pid; ended "SIG$signal" 0; said "got $signal"
done
start "echo here; exec sleep 60"; kill -USR1 $pid; sleep 0.3
kill -0 $pid || wrong "SIGUSR1 ended ranks that have no handler for it"
grep -q "no rank has waited" "$folder/err" || wrong "SIGUSR1 told nothing: $(cat "$folder/err")"
kill -INT $pid; ended "SIGINT" 130
start "echo here; exec sleep 60"; kill -TERM $pid; ended "SIGTERM" 143
[ -s "$folder/err" ] && wrong "SIGTERM from outside needs no sentence: $(cat "$folder/err")"
start "trap '' INT; echo here; $waiting"; kill -INT $pid; sleep 0.2; kill -0 $pid || wrong "the first SIGINT ended ranks that ignore it"
kill -INT $pid; ended "the second SIGINT" 130

# stopping and continuing the whole job
start "echo here; $waiting"; kill -TSTP $pid; sleep 0.3
states=$(ps -o stat= -p "$(pgrep -d, -P $pid bash)" | cut -c1 | sort -u); [ "$states" = T ] || wrong "SIGTSTP left ranks in state '$states'"
kill -CONT $pid; sleep 0.2
states=$(ps -o stat= -p "$(pgrep -d, -P $pid bash)" | cut -c1 | sort -u); [ "$states" != T ] || wrong "SIGCONT left ranks stopped"
kill -INT $pid; ended "SIGINT after SIGCONT" 130

# mpiexec killed: nothing stays, neither ranks nor what they started
start "sleep 1237 & (setsid sleep 1237 &); trap '' TERM; echo here; $waiting"
kill -KILL $pid; wait $pid 2> /dev/null
for _ in $(seq 20); do pgrep -f "^sleep 1237$" > /dev/null || break; sleep 0.05; done
pgrep -f '^sleep 1237$' > /dev/null && wrong "kill -9 of mpiexec left $(pgrep -fc '^sleep 1237$') processes"

# also what has cleaned its environment, as the library does for a rank's own children
start "env -i sleep 1238 & echo here; $waiting"; kill -KILL $pid; wait $pid 2> /dev/null
for _ in $(seq 20); do pgrep -f '^sleep 1238$' > /dev/null || break; sleep 0.05; done
pgrep -f '^sleep 1238$' > /dev/null && wrong "kill -9 of mpiexec left a process without environment"
finish

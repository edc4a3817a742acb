#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How jobs on several nodes end, whoever dies, and that nothing is left anywhere.
. "$(dirname "$0")/nodes_common.sh" "$1"
set -m   # background jobs get their own group and do not ignore SIGINT

# exit codes and sentences, with the right host
on "$two" -n 4 sh -c 'exit $((PMI_RANK == 3 ? 7 : 0))'; expect_code 7; expect_err "rank 3 on 127.0.0.3, process "; expect_err "exit code 7"
on "$two" -n 4 "$rank" init only 1 signal 11 sleep 7701; expect_code 139; expect_err "signal 11 (Segmentation fault)"; expect_within 2000; expect_nothing_left
on "$two" -n 4 "$rank" init only 0 abort 42 sleep 7701; expect_code 42; expect_err "code 42"; expect_within 2000
# the first of each node does it: either may come first
[[ "$err" == *"rank 0 on 127.0.0.2"* || "$err" == *"rank 2 on 127.0.0.3"* ]] || wrong "$what said '$err'"
on localhost:2,127.0.0.3:2 -n 4 "$rank" init only 1 exit 0 sleep 7701; expect_code 1; expect_err "without calling MPI_Finalize"; expect_within 2000
on 127.0.0.2:1,127.0.0.3:1 -n 1 true : -n 1 "$rank" sleep 0.2 init sleep 7701; expect_code 1; expect_err "rank 0 on 127.0.0.2"; expect_err "MPI_Init, which rank 1 has called"; expect_within 2000
on "$two" -n 4 -timeout 0.5 "$rank" init only 1 wait "MPI_Recv from rank 1" sleep 7701; expect_code 124; expect_err "What ranks wait for:
  ranks 1 and 3  MPI_Recv from rank 1"
on "$two" -n 4 "$rank" orphan only 1 exit 1 sleep 7701; expect_within 2000; expect_nothing_left
on "$two" -n 4 sh -c 'trap "" TERM; [ $PMI_RANK = 2 ] && exit 5; while true; do sleep 0.1; done'; expect_code 5; expect_within 2000; expect_nothing_left

# what cannot be started
on "$two" -n 4 not-a-program; expect_code 127; expect_err "on node 127.0.0."; expect_err "not-a-program"
on "$two" -n 4 -wdir /nowhere true; expect_code 127; expect_err /nowhere
on "127.0.0.2,nobody.example,127.0.0.3" -n 3 true; expect_code 1; expect_within 2000
expect_err "node nobody.example could not be reached: $agent ended with exit code 255 and said: agent: nobody.example: no such host"
expect_nothing_left
agent_words="--hang 127.0.0.3"; on "$two" -n 4 --start-timeout 0.7 true; expect_code 1; expect_err "node 127.0.0.3 has not answered within 0.7 s"; expect_within 2500; expect_nothing_left; agent_words=
run --launcher-agent /nowhere/agent -hosts "$two" true; expect_code 127; expect_err /nowhere/agent
run --launcher-agent true -hosts "$two" true; expect_code 1; expect_err " could not be reached: true ended with exit code 0"
run --launcher-agent yes -hosts "$two" --start-timeout 0.5 true; expect_code 1; expect_err "node 127.0.0.2"; expect_within 2500
on "-x" true; expect_code 2; expect_err "'-x' is not the name of a host"

# start SCRIPT [HOSTS [RANKS]]: ranks run it; waits until each has said that it is there. Leaves $pid.
start() {
    : > "$folder/out"; : > "$AGENT_LOG"
    local ranks=${3:-4}
    "$mpiexec" --launcher-agent "$agent ${agent_words:-}" -hosts "${2:-$two}" -n "$ranks" bash -c "$1" > "$folder/out" 2> "$folder/err" < /dev/null & pid=$!
    for _ in $(seq 200); do [ "$(grep -c here "$folder/out")" = "$ranks" ] && return; sleep 0.05; done
    wrong "'$1' did not start: $(cat "$folder/err")"
}
# ended WHAT CODE [WITHIN]
ended() {
    local began; began=$(date +%s%N)
    wait "$pid" 2> /dev/null; code=$?; ms=$((($(date +%s%N) - began) / 1000000)); err=$(cat "$folder/err"); what=$1
    expect_code "$2"; expect_within "${3:-2000}"; expect_nothing_left
}
said() { [ "$(grep -c "$1" "$folder/out")" = 4 ] || wrong "not every rank said '$1': $(cat "$folder/out")"; }
daemon_of() { awk -v host="$1" '$2 == host { print $1 }' "$AGENT_LOG"; }
waiting='while true; do sleep 0.05; done'

# somebody is killed
start "echo here; exec sleep 7702"; kill -KILL "$(pgrep -f '^sleep 7702$' | tail -1)"; ended "kill -9 of a rank" 137; expect_err "was killed by signal 9"
start "sleep 7703 & echo here; exec sleep 7702"; kill -KILL "$(daemon_of 127.0.0.3)"; ended "kill -9 of a daemon" 1; expect_err "node 127.0.0.3"
agent_words=--child
start "(setsid sleep 7703 &); echo here; exec sleep 7702"; kill -KILL "$(daemon_of 127.0.0.2)"; ended "kill -9 of an agent" 1; expect_err "node 127.0.0.2"; expect_err "killed by signal 9"
start "echo here; exec sleep 7702"; kill -KILL "$(pgrep -P "$(daemon_of 127.0.0.2)")"; ended "kill -9 of an agent's daemon" 1; expect_err "node 127.0.0.2"
agent_words=
start "sleep 7703 & (setsid sleep 7703 &); trap '' TERM; echo here; $waiting"; kill -KILL $pid; wait $pid 2> /dev/null; what="kill -9 of mpiexec"; expect_nothing_left
start "echo here; exec sleep 7702" localhost:2,127.0.0.3:2; kill -KILL $pid; wait $pid 2> /dev/null; what="kill -9 of mpiexec with ranks of its own"; expect_nothing_left
# a node that falls silent, its connection open
start "echo here; exec sleep 7702"; kill -STOP "$(daemon_of 127.0.0.3)"; ended "a silent node" 1 3000; expect_err "node 127.0.0.3 has gone: it has not been heard for 1.5 s"
# in a tree: a daemon that speaks for another
many=$(seq -s, -f '127.0.1.%g' 20)
start "echo here; exec sleep 7702" "$many" 20; kill -KILL "$(daemon_of 127.0.1.5)"; ended "kill -9 of a daemon in a tree" 1; expect_err "node 127.0.1.5"
below=$(awk '{ print $1 }' "$AGENT_LOG" | tail -1); host=$(awk 'END { print $2 }' "$AGENT_LOG")
start "echo here; exec sleep 7702" "$many" 20; below=$(awk 'END { print $1 }' "$AGENT_LOG"); host=$(awk 'END { print $2 }' "$AGENT_LOG")
kill -KILL "$below"; ended "kill -9 of a daemon below another" 1; expect_err "node $host"
start "echo here; exec sleep 7702" "$many" 20; kill -KILL $pid; wait $pid 2> /dev/null; what="kill -9 of mpiexec above a tree"; expect_nothing_left

# signals reach all ranks
for signal in INT TERM USR1; do
    start "trap 'echo got $signal; exit 0' $signal; echo here; $waiting"
    kill -$signal $pid; ended "SIG$signal to tidy ranks" 0; said "got $signal"
done
start "echo here; exec sleep 7702"; kill -INT $pid; ended "SIGINT" 130; [ -z "$err" ] || wrong "SIGINT needs no sentence: $err"
start "trap '' INT; echo here; $waiting"; kill -INT $pid; sleep 0.2; kill -0 $pid || wrong "the first SIGINT ended ranks that ignore it"
kill -INT $pid; ended "the second SIGINT" 130
# a job that is stopped for longer than a node may be silent goes on where it was
start "echo here; exec sleep 7702"; kill -TSTP $pid; sleep 2.5
states=$(ps -o stat= -p "$(pgrep -d, -f '^sleep 7702$')" | cut -c1 | sort -u); [ "$states" = T ] || wrong "SIGTSTP left ranks in state '$states'"
kill -CONT $pid; sleep 0.5; kill -0 $pid || wrong "a stopped job was ended: $(cat "$folder/err")"
states=$(ps -o stat= -p "$(pgrep -d, -f '^sleep 7702$')" | cut -c1 | sort -u); [ "$states" = S ] || wrong "SIGCONT left ranks in state '$states'"
kill -TERM $pid; ended "SIGTERM after SIGCONT" 143
finish

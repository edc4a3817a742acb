#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ends of jobs on several nodes, whichever process dies; no process may be left on any node.
. "$(dirname "$0")/nodes_common.sh" "$1"
set -m   # background jobs get their own group and do not ignore SIGINT

# exit codes and messages, with the right host
on "$two" -n 4 sh -c 'exit $((PMI_RANK == 3 ? 7 : 0))'; expect_code 7; expect_err "rank 3 on 127.0.0.3, process "; expect_err "exit code 7"
on "$two" -n 4 "$rank" init only 1 signal 11 sleep "$nap"; expect_code 139; expect_err "signal 11 (Segmentation fault)"; expect_nothing_left
on "$two" -n 4 "$rank" init only 0 abort 42 sleep "$nap"; expect_code 42; expect_err "code 42"
# the first rank of each node aborts: either may be first
[[ "$err" == *"rank 0 on 127.0.0.2"* || "$err" == *"rank 2 on 127.0.0.3"* ]] || wrong "$what printed '$err'"
on localhost:2,127.0.0.3:2 -n 4 "$rank" init only 1 exit 0 sleep "$nap"; expect_code 1; expect_err "without calling MPI_Finalize"
on 127.0.0.2:1,127.0.0.3:1 -n 1 sh -c "$leave" : -n 1 sh -c "$await_leaver; exec '$rank' init sleep $nap"; expect_code 1; expect_err "rank 0 on 127.0.0.2"; expect_err "MPI_Init, which rank 1 has called"
# the same if a node receives this message together with the start of the job
cat > "$folder/late" <<'END'
#!/bin/sh
# Runs the command; on 127.0.0.3 its input arrives in pieces, 0.3 s late.
host=$1; shift
[ "$host" = 127.0.0.3 ] || exec sh -c "$*"
python3 -c 'import os, select, time
while data := os.read(0, 65536):
    time.sleep(0.3)
    while select.select([0], [], [], 0)[0] and (more := os.read(0, 65536)): data += more
    os.write(1, data)' | sh -c "$*"
END
chmod +x "$folder/late"
run --launcher-agent "$folder/late" -hosts 127.0.0.2:1,127.0.0.3:1 -n 1 true : -n 1 "$rank" init sleep "$nap"; expect_code 1; expect_err "MPI_Init, which rank 1 has called"
time_out "ranks 1 and 3  MPI_Recv from rank 1" on "$two" -n 4 "$rank" init only 1 wait "MPI_Recv from rank 1" sleep "$nap"
on "$two" -n 4 "$rank" orphan "$nap" only 1 exit 1 sleep "$nap"; expect_nothing_left
on "$two" -n 4 sh -c 'trap "" TERM; [ $PMI_RANK = 2 ] && exit 5; while true; do sleep 0.1; done'; expect_code 5; expect_nothing_left

# programs that cannot be started
on "$two" -n 4 not-a-program; expect_code 127; expect_err "on node 127.0.0."; expect_err "not-a-program"
on "$two" -n 4 -wdir /nowhere true; expect_code 127; expect_err "the folder /nowhere does not exist"
on "127.0.0.2,nobody.example,127.0.0.3" -n 3 true; expect_code 1
expect_err "node nobody.example could not be reached: $agent ended with exit code 255 and printed: agent: nobody.example: no such host"
expect_nothing_left
agent_words="--hang 127.0.0.3"; on "$two" -n 4 --start-timeout 2 true; expect_code 1; expect_err "node 127.0.0.3 has not answered within 2 s"; expect_nothing_left; agent_words=
run --launcher-agent /nowhere/agent -hosts "$two" true; expect_code 127; expect_err /nowhere/agent
run --launcher-agent true -hosts "$two" true; expect_code 1; expect_err " could not be reached: true ended with exit code 0"
run --launcher-agent yes -hosts "$two" --start-timeout 2 true; expect_code 1; expect_err "node 127.0.0.2"
on "-x" true; expect_code 2; expect_err "-hosts needs NAMES after it, but the option -x follows"
run --launcher-agent true -hosts=-x true; expect_code 2; expect_err "'-x' is not the name of a host"

# start SCRIPT [HOSTS [RANKS]]: ranks run it; waits until each has printed "here". Sets $pid.
start() {
    : > "$folder/out"; : > "$AGENT_LOG"
    local ranks=${3:-4}
    "$mpiexec" --launcher-agent "$agent ${agent_words:-}" -hosts "${2:-$two}" "${patient[@]}" -n "$ranks" bash -c "$1" > "$folder/out" 2> "$folder/err" < /dev/null & pid=$!
    wait_until all_printed here "$ranks" || wrong "'$1' did not start: $(cat "$folder/err")"
}
all_printed() { [ "$(grep -c "$1" "$folder/out")" = "$2" ]; }
# stopped WHAT CODE: checks that the job ends by itself with that code and leaves no process.
stopped() { ended "$pid" "$@"; expect_nothing_left; }
all_ranks_printed() { [ "$(grep -c "$1" "$folder/out")" = 4 ] || wrong "not every rank printed '$1': $(cat "$folder/out")"; }
no_sleepers() { [ -z "$(sleepers)" ]; }
daemon_of() { awk -v host="$1" '$2 == host { print $1 }' "$AGENT_LOG"; }
waiting='while true; do sleep 0.05; done'

# processes are killed
start "echo here; exec sleep $nap"; wait_until sleepers > /dev/null; kill -KILL "$(sleepers | tail -1)"; stopped "kill -9 of a rank" 137; expect_err "was killed by signal 9"; [ "$(grep -c "killed by" <<< "$err")" = 1 ] || wrong "$what was reported more than once: $err"
start "sleep $nap & echo here; exec sleep $nap"; kill -KILL "$(daemon_of 127.0.0.3)"; stopped "kill -9 of a daemon" 1; expect_err "node 127.0.0.3"
agent_words=--child
start "(setsid sleep $nap &); echo here; exec sleep $nap"; kill -KILL "$(daemon_of 127.0.0.2)"; stopped "kill -9 of an agent" 1; expect_err "node 127.0.0.2"; expect_err "killed by signal 9"
start "echo here; exec sleep $nap"; kill -KILL "$(pgrep -P "$(daemon_of 127.0.0.2)")"; stopped "kill -9 of an agent's daemon" 1; expect_err "node 127.0.0.2"
agent_words=
start "sleep $nap & (setsid sleep $nap &); trap '' TERM; echo here; $waiting"; kill -KILL $pid; stopped "kill -9 of mpiexec" 137
start "echo here; exec sleep $nap" localhost:2,127.0.0.3:2; kill -KILL $pid; stopped "kill -9 of mpiexec with ranks of its own" 137
# a node becomes silent, with its connection open
patient=(--silence 2)
start "echo here; exec sleep $nap"; kill -STOP "$(daemon_of 127.0.0.3)"; stopped "a silent node" 1; expect_err "node 127.0.0.3 is lost: nothing was received from it for 2 s"
# mpiexec becomes silent: the nodes end their ranks, and mpiexec prints their reason when it continues
start "echo here; exec sleep $nap"; kill -STOP $pid; wait_until no_sleepers; kill -CONT $pid; stopped "a silent mpiexec" 1; expect_err "has left the job: it received nothing for 2 s"
# silence that must not end the job: mpiexec, a daemon and a rank are stopped for longer than 1.5 s (a former limit)
patient=()
start "echo \$\$ > '$folder/rank.'\$PMI_RANK; echo here; until [ -e '$folder/go' ]; do sleep 0.05; done; echo done"
for one in $pid "$(daemon_of 127.0.0.2)" "$(daemon_of 127.0.0.3)" "$(cat "$folder/rank.0")"; do kill -STOP "$one"; sleep 3; kill -CONT "$one"; done
touch "$folder/go"; stopped "a job of which each process was stopped" 0; all_ranks_printed done; rm "$folder/go"
# daemons whose main loop is blocked (here by opening a FIFO without a reader) still send heartbeats
mkfifo "$folder/slow"
"$mpiexec" --launcher-agent "$agent" -hosts "$two" -n 4 --silence 2 -outfile-pattern "$folder/slow" echo x > "$folder/out" 2> "$folder/err" < /dev/null & pid=$!
sleep 4; cat "$folder/slow" > "$folder/read"; stopped "busy daemons" 0; [ "$(sort -u "$folder/read")" = x ] || wrong "busy daemons: $(cat "$folder/read")"
patient=(--silence 20)
# in a tree: a daemon that represents another one
many=$(seq -s, -f '127.0.1.%g' 20)
start "echo here; exec sleep $nap" "$many" 20; kill -KILL "$(daemon_of 127.0.1.5)"; stopped "kill -9 of a daemon in a tree" 1; expect_err "node 127.0.1.5"
start "echo here; exec sleep $nap" "$many" 20; below=$(awk 'END { print $1 }' "$AGENT_LOG"); host=$(awk 'END { print $2 }' "$AGENT_LOG")
kill -KILL "$below"; stopped "kill -9 of a daemon below another" 1; expect_err "node $host"
start "echo here; exec sleep $nap" "$many" 20; kill -KILL $pid; stopped "kill -9 of mpiexec above a tree" 137

# signals reach all ranks
for signal in INT TERM USR1; do
    start "trap 'echo got $signal; exit 0' $signal; echo here; $waiting"
    kill -$signal $pid; stopped "SIG$signal to tidy ranks" 0; all_ranks_printed "got $signal"
done
start "echo here; exec sleep $nap"; kill -INT $pid; stopped "SIGINT" 130; [ -z "$err" ] || wrong "SIGINT needs no message: $err"
start "trap 'echo got INT' INT; echo here; $waiting"; kill -INT $pid
wait_until all_printed "got INT" 4; kill -0 $pid || wrong "the first SIGINT ended ranks that handle it"
kill -INT $pid; stopped "the second SIGINT" 130
# a job that is stopped for longer than the limit for silent nodes continues
all_are() { [ "$(ps -o stat= -p "$(sleepers | paste -sd,)" | cut -c1 | sort -u)" = "$1" ]; }
patient=(--silence 1)
start "echo here; exec sleep $nap"; kill -TSTP $pid; wait_until all_are T; sleep 3
kill -CONT $pid; wait_until all_are S; kill -0 $pid || wrong "a stopped job was ended: $(cat "$folder/err")"
kill -TERM $pid; stopped "SIGTERM after SIGCONT" 143
finish

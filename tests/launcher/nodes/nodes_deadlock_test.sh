#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks of several nodes that wait for each other in vain are told of, others are left alone.
. "$(dirname "$0")/nodes_common.sh" "$1"
set -m   # background jobs get their own group and do not ignore SIGINT
waits=$build/tests/cluster_waits
[ -x "$waits" ] || { echo "Skipped: no MPI library was built."; exit 77; }
source=$(dirname "$0")/../../cluster/programs/waits.c
here="waits.c:$(grep -nm1 'HERE$' "$source" | cut -d: -f1) in receive()"
longer="--silence 20 --start-timeout 60"   # on a busy machine

# in_vain HOW HEADLINE [LINE...]
in_vain() {
    local how=$1; shift
    # shellcheck disable=SC2086
    on "${hosts:-$two}" -n 4 $longer -timeout 60 "$waits" "$how"
    expect_code 125
    for words in "$@"; do expect_err "$words"; done
    [ "$(grep -c '^error' <<< "$err")" = 1 ] || wrong "$what said not one thing: $err"
}
not_in_vain() {
    # shellcheck disable=SC2086
    on "${hosts:-$two}" -n 4 $longer -timeout 60 "$waits" "$1"
    expect_code 0; expect_silence
}

in_vain heads "error[T01] deadlock: ranks 0 and 2 wait for each other" "MPI_Recv(1 MPI_INT from rank 2, tag 1, MPI_COMM_WORLD)" "$here" "all receive first"
hosts=localhost:2,127.0.0.3:2 in_vain heads "ranks 0 and 2 wait for each other" "MPI_Recv(1 MPI_INT from rank 2, tag 1, MPI_COMM_WORLD)  $here" "MPI_Recv(1 MPI_INT from rank 0, tag 1, MPI_COMM_WORLD)  $here"
in_vain ring "ranks 0-3 wait for each other"
in_vain tag "error[T02] deadlock: rank 2 waits for tag 8, rank 0 has sent tag 7"
in_vain sends "ranks 0 and 2 wait for each other" "all send first"
in_vain ended "deadlock: " "MPI_Recv(1 MPI_INT from rank 3"
in_vain stopped "ranks 0 and 2 wait for each other"
in_vain collectives "deadlock: "
hosts=127.0.0.2:1,127.0.0.3:1,127.0.0.4:1,127.0.0.5:1 in_vain ring "ranks 0-3 wait for each other"
expect_nothing_left

for how in late large circle round; do not_in_vain "$how"; done

# Two threads of each rank
"$build/bin/mpicxx" -g "$(dirname "$0")/../../diagnosis/wrong/threads/both_threads_wait.cpp" -o "$folder/threads" -lpthread || exit 1
# shellcheck disable=SC2086
on 127.0.0.2:1,127.0.0.3:1 -n 2 $longer -timeout 60 "$folder/threads"; expect_code 125
expect_err "error[T01] deadlock: ranks 0 and 1 wait for each other"
for rank in 0 1; do for tag in 1 2; do
    expect_err "MPI_Recv(1 MPI_INT from rank $rank, tag $tag, MPI_COMM_WORLD)  both_threads_wait.cpp:11 in receive()"
done; done

# What keeps others busy does not hide it from them.
in_vain chatter "ranks 0 and 2 wait for each other"

# left as it is, and ended by Ctrl-C, which tells what is waited for
: > "$AGENT_LOG"
"$mpiexec" --launcher-agent "$agent" -hosts "$two" -n 4 --on-deadlock wait "$waits" heads 2> "$folder/err" & job=$!
for _ in $(seq 600); do grep -q "Ctrl-C ends it" "$folder/err" && break; sleep 0.1; done
kill -USR1 $job
for _ in $(seq 100); do grep -q "What ranks wait for:" "$folder/err" && break; sleep 0.1; done
[[ "$(cat "$folder/err")" == *"What ranks wait for:"*"rank 0 "*"$here"*"rank 2 "*"$here"* ]] || wrong "SIGUSR1 told: $(cat "$folder/err")"
kill -0 $job 2> "$folder/null" || wrong "SIGUSR1 ended the job"
kill -INT $job; wait $job; code=$?; err=$(cat "$folder/err"); what="mpiexec --on-deadlock wait"
expect_code 130
expect_err "ranks 0 and 2 wait for each other"
[[ "${err#*Ctrl-C ends it}" == *"What ranks wait for:"*"$here"* ]] || wrong "$what told no table: $err"

# a time limit, with the table of both nodes
on "$two" -n 4 --on-deadlock wait -timeout 3 "$waits" heads; expect_code 124
[[ "${err#*Ctrl-C ends it}" == *"What ranks wait for:"*"rank 0 "*"$here"*"rank 2 "*"$here"* ]] || wrong "$what told no table: $err"

# a daemon that is stopped for a while delays it
: > "$AGENT_LOG"
"$mpiexec" --launcher-agent "$agent" -hosts "$two" -n 4 --silence 20 "$waits" stopped 2> "$folder/err" & job=$!
sleep 0.5
daemon=$(sed -n '2s/ .*//p' "$AGENT_LOG")
kill -STOP "$daemon"; sleep 1.5
kill -0 $job 2> "$folder/null" || wrong "it was told while a daemon was stopped: $(cat "$folder/err")"
kill -CONT "$daemon"; wait $job; code=$?; err=$(cat "$folder/err"); what="with a stopped daemon"
expect_code 125; expect_err "ranks 0 and 2 wait for each other"
expect_nothing_left
finish

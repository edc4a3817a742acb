#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Processes of a job on one node and on two are stopped for seconds during messages and collectives: a rank, all ranks
# of a node, a daemon, mpiexec. The job continues with correct results when they are continued.
. "$(dirname "$0")/nodes_common.sh" "$1"
steady=$build/tests/cluster_steady
[ -x "$steady" ] || skip "this build has no MPI programs"

running() { grep -qx running "$folder/out"; }
# Repeats SIGSTOP, because mpiexec may still be forwarding an earlier SIGCONT, which continues ranks again.
stop_all() {
    # shellcheck disable=SC2086
    kill -STOP $1
    ! ps -o stat= -p "${1// /,}" | grep -qv '^T'
}
daemon_of() { awk -v host="$1" '$2 == host { print $1 }' "$AGENT_LOG"; }
ranks_of() { pgrep -P "$1" cluster_steady | paste -sd' '; }

# begin OPTIONS OF MPIEXEC: starts a job that communicates until $folder/enough exists. Sets $pid.
begin() {
    rm -f "$folder/enough"; : > "$folder/out"; : > "$AGENT_LOG"
    "$mpiexec" "$@" -n 4 "$steady" "$folder/enough" > "$folder/out" 2> "$folder/err" < /dev/null & pid=$!
    wait_until running || wrong "no job: $(cat "$folder/err")"
}
# stop PIDS: stops them for longer than the diagnosis takes to find that a rank waits
stop() {
    wait_until stop_all "$1"
    sleep 2
    # shellcheck disable=SC2086
    kill -CONT $1
}
went_on() {
    touch "$folder/enough"; ended "$pid" "$1" 0; out=$(cat "$folder/out")
    [[ "$out" == *" rounds, all right" ]] || wrong "$1: $out"
    expect_silence; expect_nothing_left
}

begin
ranks=$(ranks_of "$pid")
for one in "${ranks%% *}" "${ranks##* }" "$ranks" "$pid" "$pid $ranks"; do stop "$one"; done
went_on "a job on one node"

begin --launcher-agent "$agent" -hosts "$two" "${patient[@]}"
first=$(daemon_of 127.0.0.2) second=$(daemon_of 127.0.0.3)
there=$(ranks_of "$second")
for one in "${there%% *}" "$there" "$first" "$second" "$pid" "$first $second" "$second $there" "$pid $first $second"; do stop "$one"; done
went_on "a job on two nodes"

# each process alone, in turn, repeatedly
begin --launcher-agent "$agent" -hosts "$two" "${patient[@]}"
first=$(daemon_of 127.0.0.2) second=$(daemon_of 127.0.0.3)
all="$pid $first $second $(ranks_of "$first") $(ranks_of "$second")"
for _ in $(seq 20); do
    for one in $all; do kill -STOP "$one"; sleep "0.0$((RANDOM % 5))"; kill -CONT "$one"; done
done
went_on "a job of which each process is stopped again and again"
finish

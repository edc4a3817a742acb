#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Two nodes of four, or a node and a rank of another one, die at nearly the same time, at every stage of a job: mpiexec
# names the lost nodes, ends with a code other than 0, and no process is left.
. "$(dirname "$0")/nodes_common.sh" "$1"
steady=$build/tests/cluster_steady never=$folder/never
[ -x "$steady" ] || skip "this build has no MPI programs"
hosts=(127.0.0.2 127.0.0.3 127.0.0.4 127.0.0.5)
four=$(printf '%s:2,' "${hosts[@]}") four=${four%,}

daemon_of() { awk -v host="$1" '$2 == host { print $1 }' "$AGENT_LOG"; }
ranks_of() { pgrep -P "$(daemon_of "$1")"; }
all_called() { [ "$(wc -l < "$AGENT_LOG")" = 4 ]; }

# kill_together PROCESS...: stops all of them before it kills them. As soon as mpiexec loses a daemon, it requests the
# others to end, and a running daemon could then end regularly before it is killed.
kill_together() { kill -STOP "$@"; kill -KILL "$@"; } 2> /dev/null

# begin COMMAND...: starts eight ranks on four nodes. Sets $pid.
begin() {
    : > "$folder/out"; : > "$AGENT_LOG"
    "$mpiexec" --launcher-agent "$agent" -hosts "$four" "${patient[@]}" -n 8 "$@" > "$folder/out" 2> "$folder/err" < /dev/null & pid=$!
}
# printed WORD COUNT: true if COUNT lines of the output are WORD.
printed() { [ "$(grep -cx "$1" "$folder/out")" = "$2" ]; }
# lost WHAT HOST...: checks that the job fails and that mpiexec names these nodes and no other one.
lost() {
    local host
    what=$1
    wait_until has_ended "$pid" || kill -KILL "$pid"
    wait "$pid" 2> /dev/null; code=$? err=$(cat "$folder/err")
    [ "$code" != 0 ] || wrong "$what: the job succeeded"
    for host in "${hosts[@]}"; do
        if [[ " ${*:2} " == *" $host "* ]]; then grep -qE "^mpiexec: .*node $host( is|:| could| was)" "$folder/err" || wrong "$what did not name $host: $err"
        else ! grep -qE "^mpiexec: .*node $host( is|:| could| was)" "$folder/err" || wrong "$what named $host: $err"; fi
    done
    expect_nothing_left
}

for round in 1 2 3; do
    # two nodes with all their ranks, during collectives and messages
    begin "$steady" "$never"; wait_until printed running 1
    # shellcheck disable=SC2046
    kill_together $(daemon_of 127.0.0.3) $(daemon_of 127.0.0.5) $(ranks_of 127.0.0.3) $(ranks_of 127.0.0.5)
    lost "kill -9 of two nodes among messages, round $round" 127.0.0.3 127.0.0.5

    # a node, and a rank of another one, in either order
    for order in node rank; do
        begin "$steady" "$never"; wait_until printed running 1
        node="$(daemon_of 127.0.0.2) $(ranks_of 127.0.0.2)" rank_there=$(ranks_of 127.0.0.4 | head -1)
        # shellcheck disable=SC2086
        if [ $order = node ]; then kill_together $node $rank_there; else kill_together $rank_there $node; fi
        lost "kill -9 of a node and a rank, the $order first, round $round" 127.0.0.2
    done

    # two daemons while they start, before and after their ranks run
    begin "$steady" "$never"; wait_until all_called
    sleep "0.0$((RANDOM % 10))"
    kill_together "$(daemon_of 127.0.0.4)" "$(daemon_of 127.0.0.5)"
    lost "kill -9 of two daemons that start, round $round" 127.0.0.4 127.0.0.5
done

# where the others are in MPI_Init, or in their first message
begin bash -c "echo here; [ \$PMI_RANK -lt 4 ] || exec sleep $nap; exec '$steady' '$never'"; wait_until printed here 8
kill_together "$(daemon_of 127.0.0.4)" "$(daemon_of 127.0.0.5)"; lost "kill -9 of two daemons before MPI_Init of their ranks" 127.0.0.4 127.0.0.5
# where the others are in MPI_Finalize
begin "$build/tests/cluster_waits" finalize; wait_until printed here 8
kill_together "$(daemon_of 127.0.0.3)" "$(daemon_of 127.0.0.5)"; lost "kill -9 of two daemons beside MPI_Finalize" 127.0.0.3 127.0.0.5
finish

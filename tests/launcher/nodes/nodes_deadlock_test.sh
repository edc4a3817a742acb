#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Deadlocks between ranks of several nodes are reported, and waits that end are not.
. "$(dirname "$0")/nodes_common.sh" "$1"
set -m   # background jobs get their own group and do not ignore SIGINT
waits=$build/tests/cluster_waits
call="waits.c:$(grep -nm1 'HERE$' "$source/tests/cluster/programs/waits.c" | cut -d: -f1) in receive()"

# reports_deadlock HOW HEADLINE [LINE...]: the job must end with a report that has these texts
reports_deadlock() {
    local how=$1; shift
    on "${hosts:-$two}" -n 4 "$waits" "$how"
    expect_code 125
    for words in "$@"; do expect_err "$words"; done
    [ "$(grep -c '^error' <<< "$err")" = 1 ] || wrong "$what did not report exactly one error: $err"
}
reports_nothing() {
    on "${hosts:-$two}" -n 4 "$waits" "$1"
    expect_code 0; expect_silence
}

reports_deadlock heads "error[T01] deadlock: ranks 0 and 2 wait for each other" "MPI_Recv(1 MPI_INT from rank 2, tag 1, MPI_COMM_WORLD)" "$call" "all receive first"
hosts=localhost:2,127.0.0.3:2 reports_deadlock heads "ranks 0 and 2 wait for each other" "MPI_Recv(1 MPI_INT from rank 2, tag 1, MPI_COMM_WORLD)  $call" "MPI_Recv(1 MPI_INT from rank 0, tag 1, MPI_COMM_WORLD)  $call"
reports_deadlock ring "ranks 0-3 wait for each other"
reports_deadlock tag "error[T02] deadlock: rank 2 waits for tag 8, rank 0 has sent tag 7"
reports_deadlock sends "ranks 0 and 2 wait for each other" "all send first"
reports_deadlock ended "deadlock: " "MPI_Recv(1 MPI_INT from rank 3"
reports_deadlock stopped "ranks 0 and 2 wait for each other"
reports_deadlock collectives "deadlock: "
hosts=127.0.0.2:1,127.0.0.3:1,127.0.0.4:1,127.0.0.5:1 reports_deadlock ring "ranks 0-3 wait for each other"
expect_nothing_left

for how in late large circle round; do reports_nothing "$how"; done

# Two threads of each rank: a program of tests/diagnosis
on 127.0.0.2:1,127.0.0.3:1 -n 2 "$build/tests/corpus/wrong/threads/both_threads_wait_cpp"; expect_code 125
expect_err "error[T01] deadlock: ranks 0 and 1 wait for each other"
for rank in 0 1; do for tag in 1 2; do
    expect_err "MPI_Recv(1 MPI_INT from rank $rank, tag $tag, MPI_COMM_WORLD)  both_threads_wait.cpp:13 in receive()"
done; done

# Messages between other ranks do not hide the deadlock.
reports_deadlock chatter "ranks 0 and 2 wait for each other"

table_is_there() { grep -A 9 "What ranks wait for:" "$folder/err" | grep -q 'rank 2 '; }
# the job is kept, and ended by Ctrl-C, which prints what ranks wait for
: > "$AGENT_LOG"
"$mpiexec" --launcher-agent "$agent" -hosts "$two" "${patient[@]}" -n 4 --on-deadlock wait "$waits" heads 2> "$folder/err" & job=$!
wait_until grep -q "Ctrl-C ends the job" "$folder/err"
kill -USR1 $job; wait_until table_is_there
[[ "$(cat "$folder/err")" == *"What ranks wait for:"*"rank 0 "*"$call"*"rank 2 "*"$call"* ]] || wrong "SIGUSR1 printed: $(cat "$folder/err")"
kill -0 $job 2> "$folder/null" || wrong "SIGUSR1 ended the job"
kill -INT $job; ended $job "mpiexec --on-deadlock wait" 130
expect_err "ranks 0 and 2 wait for each other"
[[ "${err#*Ctrl-C ends the job}" == *"What ranks wait for:"*"$call"* ]] || wrong "$what printed no table: $err"

# a time limit, with the table of both nodes
time_out "rank 0 *$call*rank 2 *$call" on "$two" -n 4 --on-deadlock wait "$waits" heads

# a rank of the other node that does not wait is named, with its location
cat > "$folder/busy.c" <<'END'
#include <mpi.h>
int main(int argc, char** argv) {
    volatile int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, (int*)&rank);
    while (rank == 2) {}
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
END
"$build/bin/mpicc" -g "$folder/busy.c" -o "$folder/busy" || exit 1
busy_rank="rank 2 is not in MPI; its last call was MPI_Comm_rank, busy.c:5 in main()
    now at busy.c:6 in main()"
time_out "ranks 0-1,3  MPI_Barrier(MPI_COMM_WORLD)  busy.c:7 in main()
  $busy_rank" on "$two" -n 4 "$folder/busy"

# ranks of a node whose daemon does not answer are also named
: > "$AGENT_LOG"
"$mpiexec" --launcher-agent "$agent" -hosts "$two" "${patient[@]}" -n 4 "$folder/busy" 2> "$folder/err" & job=$!
shows() { kill -USR1 $job; sleep 0.2; grep -q "$1" "$folder/err"; }
is_busy() { pgrep -f "^$folder/busy" > "$folder/null"; }
wait_until is_busy; wait_until shows "rank 2 is not in MPI"
daemon=$(sed -n '/127.0.0.3$/s/ .*//p' "$AGENT_LOG")
kill -STOP "$daemon"
wait_until shows "ranks 2 and 3 cannot be observed: the launcher of that node did not answer"
kill -CONT "$daemon"
kill -INT $job; ended $job "a job whose rank 2 is busy" 130
expect_nothing_left

# a stopped daemon delays the report
: > "$AGENT_LOG"
"$mpiexec" --launcher-agent "$agent" -hosts "$two" "${patient[@]}" -n 4 "$waits" stopped 2> "$folder/err" & job=$!
two_daemons() { [ "$(wc -l < "$AGENT_LOG")" = 2 ]; }
wait_until two_daemons
daemon=$(sed -n '/127.0.0.3$/s/ .*//p' "$AGENT_LOG")
kill -STOP "$daemon"; sleep 1
kill -0 $job 2> "$folder/null" || wrong "the deadlock was reported while a daemon was stopped: $(cat "$folder/err")"
kill -CONT "$daemon"; ended $job "with a stopped daemon" 125; expect_err "ranks 0 and 2 wait for each other"
expect_nothing_left
finish

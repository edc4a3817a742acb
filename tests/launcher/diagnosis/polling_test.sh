#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A job without progress in which ranks poll: shown on request, reported after TUTTI_POLLING_LIMIT, and not ended.
. "$(dirname "$0")/../common.sh" "$1"

cat >"$folder/poll.c" <<'END'
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, there = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) close(creat(argv[1], 0600));
    for (int i = 1; rank == 0 && !there; ++i) {
        MPI_Iprobe(1, 8, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (i % 100 == 0) usleep(1000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
END
"$build/bin/mpicc" -g "$folder/poll.c" -o "$folder/poll" || exit 1

# processes that a shell starts in the background ignore SIGINT
env --default-signal=INT TUTTI_POLLING_LIMIT=2 "$mpiexec" -n 3 "$folder/poll" "$folder/polls" 2>"$folder/err" &
job=$!
wait_until [ -e "$folder/polls" ]   # before exec of mpiexec, SIGUSR1 would end the process
# shown on request after some seconds of polling
shows_it() { kill -USR1 $job; sleep 0.2; grep -q "polls without progress for" "$folder/err"; }
wait_until shows_it
[[ "$(cat "$folder/err")" == *"What ranks wait for:
  rank 0         MPI_Iprobe(from rank 1, tag 8, MPI_COMM_WORLD)  "*"poll.c:11 in main()"*"polls without progress for "*" s"* ]] ||
    wrong "SIGUSR1 showed: $(cat "$folder/err")"
wait_until grep -q "^For details.*T19\|^  For details.*T19" "$folder/err"
kill -0 $job || wrong "a job that polls was ended"
kill -INT $job; ended $job "a job that polls" 130
expect_err "warning[T19] no rank has made progress for 2 s: rank 0 polls without progress
  rank 0         MPI_Iprobe(from rank 1, tag 8, MPI_COMM_WORLD)  poll.c:11 in main()"
expect_err "
  ranks 1 and 2  MPI_Barrier(MPI_COMM_WORLD)                     poll.c:14 in main()"
[ "$(grep -c 'T19\]' <<<"$err")" = 1 ] || wrong "$what was reported more than once: $err"
finish

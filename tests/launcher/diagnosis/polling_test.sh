#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A job in which nothing moves but ranks that poll: shown at any time, told after half a minute, and not ended.
. "$(dirname "$0")/../common.sh" "$1"
[ -x "$build/bin/mpicc" ] && [ -e "$build/lib/libmpi.so.12" ] || { echo "the MPI library is not built"; exit 77; }

cat >"$folder/poll.c" <<'END'
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, there = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (rank == 0 && !there)
        MPI_Iprobe(1, 8, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
END
"$build/bin/mpicc" -g "$folder/poll.c" -o "$folder/poll" || exit 1

"$mpiexec" -timeout 40 -n 3 "$folder/poll" 2>"$folder/err" &
job=$!
sleep 4
kill -USR1 $job; wait $job; code=$? err=$(cat "$folder/err") what="a job that polls"
expect_code 124
early=${err%%warning*}
[[ "$early" == *"What ranks wait for:
  rank 0         MPI_Iprobe(…)                "*"poll.c:8 in main()"*"again and again, in vain for "*" s"* ]] ||
    wrong "SIGUSR1 showed: $early"
expect_err "warning[T19] nothing has moved for 30 s: rank 0 looks for something again and again
  rank 0         MPI_Iprobe(…)                poll.c:8 in main()"
expect_err "
  ranks 1 and 2  MPI_Barrier(MPI_COMM_WORLD)  poll.c:9 in main()"
[ "$(grep -c 'T19\]' <<<"$err")" = 1 ] || wrong "$what was told more than once: $err"
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Equal warnings of many ranks are one report after the program's output, on one node and on two. Also: reports of a
# rank that dies, and of types that differ between nodes.
. "$(dirname "$0")/../nodes/nodes_common.sh" "$1"

cat >"$folder/left.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, last, x = 0;
    double y;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &last);
    last--;
    MPI_Request request;
    if (argv[1][0] == 'l') {
        MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &request);
        MPI_Send(&x, 1, MPI_INT, (rank + 1) % (last + 1), 3, MPI_COMM_WORLD);
        fprintf(stderr, "rank %d is done\n", rank);
    }
    if (argv[1][0] == 't' && rank == 0) MPI_Send(&x, 1, MPI_INT, last, 0, MPI_COMM_WORLD);
    if (argv[1][0] == 't' && rank == last) MPI_Recv(&y, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argv[1][0] == 'd' && rank == last) { usleep(300000); abort(); }
    if (argv[1][0] == 'd') MPI_Recv(&x, 1, MPI_INT, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
END
"$build/bin/mpicc" -g "$folder/left.c" -o "$folder/left" || exit 1

# report_of HOW CHECK: runs the program on one node and on two
report_of() {
    for where in one two; do
        if [ $where = one ]; then run -n 4 "$folder/left" "$1"
        else on "$two" -n 4 "$folder/left" "$1"; fi
        "$2"
    done
}

left_over() {
    expect_code 0
    expect_err "warning[T07] requests were not completed before MPI_Finalize
  ranks 0-3  receive of 1 MPI_INT from any source, tag 9, MPI_COMM_WORLD  left.c:15 in main()  never completed"
    expect_err "message of 1 MPI_INT from rank 3, tag 3, MPI_COMM_WORLD"
    expect_err "For details, run: mpiexec --explain T07"
    [ "$(grep -c 'warning\[' <<< "$err")" = 2 ] || wrong "$what did not put the warnings of all ranks together: $err"
    [ "$(head -4 <<< "$err" | grep -c 'is done')" = 4 ] || wrong "$what warned before the ranks had printed: $err"
}
report_of left left_over

types() {
    expect_code 125
    expect_err "error[T06] rank 3 receives MPI_DOUBLE where rank 0 sends MPI_INT"
    expect_err "rank 3  MPI_Recv(1 MPI_DOUBLE from rank 0, tag 0, MPI_COMM_WORLD)"
    expect_err "left.c:20 in main()"
}
report_of types types

dies() {
    expect_code 134
    expect_err "error[T09] rank 3 was killed by signal 6 (Aborted)"
    expect_err "MPI_Barrier"
    expect_err "left.c:21 in main()  was its last MPI call"
    expect_err "  ranks 0-2  MPI_Recv(1 MPI_INT from rank 3, tag 7, MPI_COMM_WORLD)  left.c:23 in main()  waiting for rank 3"
}
report_of dies dies
expect_nothing_left

run -n 2 --messages json "$folder/left" left; expect_code 0
[ "$(grep '^{' <<< "$err" | python3 -c 'import json,sys
for line in sys.stdin: m = json.loads(line); print(m["code"], m["severity"], m["ranks"][0]["ranks"])' | head -1)" = \
    "T07 warning [0, 1]" ] || wrong "$what printed $err"

TUTTI_DIAGNOSIS=no run -n 2 "$folder/left" left; expect_code 0
[[ "$err" != *"warning["* ]] || wrong "$what searched for errors: $err"
TUTTI_DIAGNOSIS=no run -n 2 "$folder/left" types; expect_code 0; expect_silence

# without mpiexec: the rank reports the warning itself
what="a program alone"; err=$("$folder/left" left 2>&1)
[[ "$err" == *"warning[T07] requests were not completed"*"  rank 0  receive of 1 MPI_INT"* ]] || wrong "$what: $err"
finish

// SPDX-License-Identifier: BSD-3-Clause
// Each rank prints its rank and node rank. Optional arguments: a rank, its action (nothing, abort, kill, exit, leave,
// wrong, late: a call after MPI_Finalize), and the action of the others meanwhile (wait, in a barrier; sleep). If the
// second argument is "codes", the exit code is the rank.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void act(const char* what, int rank) {
    if (strcmp(what, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 17);
    if (strcmp(what, "kill") == 0) raise(SIGKILL);
    if (strcmp(what, "exit") == 0) exit(3);
    if (strcmp(what, "wrong") == 0) MPI_Send(&rank, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    int rank, size, sum, on_node;
    MPI_Comm node;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &on_node);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const char* what = argc > 2 && atoi(argv[1]) == rank ? argv[2] : "nothing";
    act(what, rank);
    if (argc > 3 && strcmp(argv[3], "sleep") == 0) sleep(100);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d of %d, %d on its node, sum %d\n", rank, size, on_node, sum);
    fflush(stdout);
    MPI_Comm_free(&node);
    MPI_Finalize();
    if (strcmp(what, "late") == 0) MPI_Barrier(MPI_COMM_WORLD);
    return argc > 2 && strcmp(argv[2], "codes") == 0 ? rank : 0;
}

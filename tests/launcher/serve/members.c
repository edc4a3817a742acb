// SPDX-License-Identifier: BSD-3-Clause
// A rank of any MPI library. Prints "RANK SIZE SUM NODE", the sum of all ranks' numbers and the number of ranks on its
// node. members ACTION RANK: that rank ends in another way, while the others wait for it.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, size, sum, on_node;
    MPI_Comm node;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &on_node);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d %d %d %d\n", rank, size, sum, on_node);
    fflush(stdout);
    if (argc > 2) MPI_Barrier(MPI_COMM_WORLD);   // all have printed
    if (argc > 2 && atoi(argv[2]) == rank) {
        if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 17);
        if (strcmp(argv[1], "exit") == 0) _exit(3);
        if (strcmp(argv[1], "leave") == 0) _exit(0);
        if (strcmp(argv[1], "kill") == 0) kill(getpid(), SIGKILL);
        if (strcmp(argv[1], "stay") == 0) sleep(1);
#ifndef TUTTI_VERSION
        if (strcmp(argv[1], "spawn") == 0)
            MPI_Comm_spawn("none", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &node, MPI_ERRCODES_IGNORE);
#endif
    }
    if (argc > 2) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}

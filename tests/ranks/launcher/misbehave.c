// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 3 64
// args: 0 nothing
// The rank of the first argument takes the action of the second while the other ranks wait for it in a barrier:
// nothing, exit, abort (with the code of the third argument), crash, or hang. alike: each rank makes the same error
// after it has printed a line that looks like the library's. early: each rank calls MPI before MPI_Init.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank;
    if (argc > 2 && strcmp(argv[2], "early") == 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* what = argc > 2 && atoi(argv[1]) == rank ? argv[2] : "nothing";
    if (argc > 2 && strcmp(argv[2], "alike") == 0) {
        signal(SIGTERM, SIG_IGN);   // the end of the first rank must not prevent the others from reporting
        fprintf(stderr, "rank %d: a line of the program\n", rank);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(&rank, 1, MPI_INT, -7, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "exit") == 0) exit(0);
    if (strcmp(what, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, argc > 3 ? atoi(argv[3]) : 17);
    if (strcmp(what, "crash") == 0) abort();
    if (strcmp(what, "hang") == 0) sleep(100);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

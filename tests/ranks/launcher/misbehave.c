// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 3 64
// args: 0 nothing
// Rank R (the first argument) does what the second says while the others wait for it in a barrier: nothing, exit,
// abort (with the code that the
// third says), crash, or hang.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* what = argc > 2 && atoi(argv[1]) == rank ? argv[2] : "nothing";
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "exit") == 0) exit(0);
    if (strcmp(what, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, argc > 3 ? atoi(argv[3]) : 17);
    if (strcmp(what, "crash") == 0) abort();
    if (strcmp(what, "hang") == 0) sleep(100);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

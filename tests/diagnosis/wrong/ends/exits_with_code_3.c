// SPDX-License-Identifier: BSD-3-Clause
// A rank exits with an error code.
// ranks: 2 4
// whole: the end of the process matters
// expect: T09 ranks 1 ending with 3
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1
    if (rank == 1) exit(3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

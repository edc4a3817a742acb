// SPDX-License-Identifier: BSD-3-Clause
// A rank calls exit(0) without MPI_Finalize.
// ranks: 2 4
// expect: T09 ranks 1 ending with 1
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) exit(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

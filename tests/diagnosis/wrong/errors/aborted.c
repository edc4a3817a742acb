// SPDX-License-Identifier: BSD-3-Clause
// The program detects an error and calls MPI_Abort.
// ranks: 2 3
// expect: MPI_Abort ranks 1
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);   // HERE 1
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

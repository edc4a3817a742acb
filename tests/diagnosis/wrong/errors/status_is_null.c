// SPDX-License-Identifier: BSD-3-Clause
// The status argument is NULL instead of MPI_STATUS_IGNORE.
// ranks: 2
// expect: MPI_ERR_ARG ranks 1
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&size, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, 0);   // HERE 1
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are not in the new communicator use MPI_COMM_NULL.
// ranks: 2 3
// expect: MPI_ERR_COMM ranks 0
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm odd;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 0 : MPI_UNDEFINED, rank, &odd);
    if (rank < 2) MPI_Barrier(odd);   // HERE 0
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

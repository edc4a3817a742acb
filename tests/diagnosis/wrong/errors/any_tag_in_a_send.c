// SPDX-License-Identifier: BSD-3-Clause
// A send is called with MPI_ANY_TAG.
// ranks: 2
// expect: MPI_ERR_TAG ranks 0
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD);   // HERE 0
    if (rank == 1) MPI_Recv(&rank, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

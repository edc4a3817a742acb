// SPDX-License-Identifier: BSD-3-Clause
// A put is called outside of an epoch.
// ranks: 2
// expect: MPI_ERR_RMA_SYNC ranks 0
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *base;
    MPI_Win win;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (rank == 0) MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, win);   // HERE 0
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The displacement is in bytes, but the displacement unit of the window is an element.
// ranks: 2
// expect: MPI_ERR_RMA_RANGE ranks 0
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *base, x = 1;
    MPI_Win win;
    MPI_Win_allocate(4 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(&x, 1, MPI_DOUBLE, 1, 3 * sizeof(double), 1, MPI_DOUBLE, win);   // HERE 0
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// All ranks put to adjacent locations, and get them in the next epoch.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = rank, y;
    MPI_Win_fence(0, win);
    MPI_Put(&x, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Get(&y, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    if (y != rank) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

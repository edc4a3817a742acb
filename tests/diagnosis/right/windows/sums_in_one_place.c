// SPDX-License-Identifier: BSD-3-Clause
// Accumulates with the same operator may overlap, as may gets.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = 1, y, z;
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&x, &y, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Get(&y, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
    MPI_Get(&z, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
    MPI_Win_flush_local(0, win);
    MPI_Put(&y, 1, MPI_INT, rank, 3, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Ranks 0 and 1 lock two windows exclusively, in opposite order.
// ranks: 2
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *memory[2], x = 0;
    MPI_Win windows[2];
    for (int i = 0; i < 2; i++)
        MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory[i], &windows[i]);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, windows[rank]);
    MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, windows[rank]);
    MPI_Win_flush(0, windows[rank]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, windows[1 - rank]);      // HERE 0-1
    MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, windows[1 - rank]);   // HERE 0-1
    MPI_Win_unlock(0, windows[1 - rank]);                           // HERE 0-1
    MPI_Win_unlock(0, windows[rank]);
    for (int i = 0; i < 2; i++) MPI_Win_free(&windows[i]);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 does not unlock before the barrier, and rank 1 waits for the lock before the barrier.
// ranks: 2 4
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *memory, x = 0;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);      // HERE 1
        MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, window);   // HERE 1
        MPI_Win_unlock(0, window);                           // HERE 1
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 0 2-3
    if (rank == 0) MPI_Win_unlock(0, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

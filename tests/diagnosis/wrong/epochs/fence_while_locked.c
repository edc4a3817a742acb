// SPDX-License-Identifier: BSD-3-Clause
// A fence is called in a lock epoch, which it cannot end.
// ranks: 2
// expect: MPI_ERR_RMA_SYNC ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    MPI_Win_fence(0, window);   // HERE 0
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

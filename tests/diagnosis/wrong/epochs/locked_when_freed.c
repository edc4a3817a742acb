// SPDX-License-Identifier: BSD-3-Clause
// The window is freed while it is locked.
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

    int x = 1;
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    }
    MPI_Win_free(&window);   // HERE 0
    MPI_Finalize();
    return 0;
}

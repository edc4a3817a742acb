// SPDX-License-Identifier: BSD-3-Clause
// One rank gets a value that another rank puts between the same two barriers.
// ranks: 3 4
// expect: warning T14 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = 7;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Put(&x, 1, MPI_INT, size - 1, 0, 1, MPI_INT, win);   // HERE 0
        MPI_Win_flush(size - 1, win);
    }
    if (rank == 1) {
        MPI_Get(&x, 1, MPI_INT, size - 1, 0, 1, MPI_INT, win);   // HERE 1
        MPI_Win_flush(size - 1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The result of a get is put to the next rank before the get is complete.
// ranks: 2 3
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = 0;
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Get(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);   // HERE 0
        MPI_Put(&x, 1, MPI_INT, 1, 3, 1, MPI_INT, win);   // HERE 0
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The same variable is the origin buffer of the accumulate in each step, and only the last step is flushed.
// ranks: 2
// expect: T10 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        double x;
        for (int i = 0; i < 3; i++) {
            x = i;
            MPI_Accumulate(&x, 1, MPI_DOUBLE, 1, 2 * i, 1, MPI_DOUBLE, MPI_SUM, win);   // HERE 0
        }
        MPI_Win_flush_local(1, win);   // HERE 0
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

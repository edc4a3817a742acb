// SPDX-License-Identifier: BSD-3-Clause
// One rank adds, another one multiplies, at the same location in the same epoch.
// ranks: 2
// expect: warning T14 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = 2;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, rank == 0 ? MPI_SUM : MPI_PROD, win);   // HERE 0-1
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// One rank gets data that another one puts in the same epoch.
// ranks: 3
// expect: warning T14 ranks 1-2
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = rank;
    MPI_Win_fence(0, win);
    if (rank == 1) MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);   // HERE 1
    if (rank == 2) MPI_Get(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);   // HERE 2
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

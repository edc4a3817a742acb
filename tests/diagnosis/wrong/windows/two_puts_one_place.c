// SPDX-License-Identifier: BSD-3-Clause
// Both ranks put to the same element between two fences.
// ranks: 2 3
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
    int x = rank;
    MPI_Win_fence(0, win);
    if (rank < 2) MPI_Put(&x, 1, MPI_INT, 0, 2, 1, MPI_INT, win);   // HERE 0-1
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

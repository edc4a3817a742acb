// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 fences once more than the others; --check detects this at the fence.
// ranks: 2 3
// expect: T15 ranks 0 one of 1-last
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    int x = 7;
    if (rank == 0) MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    if (rank == 0) MPI_Win_fence(0, window);   // HERE 0
    MPI_Win_free(&window);                     // HERE 1-2
    MPI_Finalize();
    return 0;
}

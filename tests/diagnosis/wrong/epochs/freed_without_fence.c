// SPDX-License-Identifier: BSD-3-Clause
// The window is freed without the fence that completes the last puts.
// ranks: 2 3
// expect: warning T15 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    MPI_Win_fence(0, window);
    int x = 7;
    if (rank == 0) MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_free(&window);   // HERE 0
    MPI_Finalize();
    return 0;
}

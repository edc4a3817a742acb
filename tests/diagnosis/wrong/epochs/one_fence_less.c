// SPDX-License-Identifier: BSD-3-Clause
// The last rank puts nothing and omits the fence that ends the epoch.
// ranks: 2 3
// expect: T15 ranks last one of 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    MPI_Win_fence(0, window);
    int x = rank;
    if (rank != size - 1) {
        MPI_Put(&x, 1, MPI_INT, size - 1, rank, 1, MPI_INT, window);
        MPI_Win_fence(0, window);   // HERE 0
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The last rank asserts at its first fence that no epoch begins or ends, the others that an epoch begins.
// ranks: 2 3
// expect: T15 ranks last one of 0-1
// says: with MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    int const idle = rank == size - 1 ? MPI_MODE_NOSUCCEED : 0;
    MPI_Win_fence(MPI_MODE_NOPRECEDE | idle, window);   // HERE 0-2
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

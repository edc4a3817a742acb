// SPDX-License-Identifier: BSD-3-Clause
// One rank calls another fence, while the others call a barrier.
// ranks: 2 3
// expect: T01 or T03 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    if (rank == 0) MPI_Win_fence(0, window);   // HERE 0
    MPI_Barrier(MPI_COMM_WORLD);               // HERE 1-2
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

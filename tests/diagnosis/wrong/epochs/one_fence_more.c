// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 fences once more than the others, whose MPI_Win_free lets the fence complete.
// ranks: 2 4
// expect: T15 ranks 0 one of 1-last
// says: has called MPI_Win_fence 3 times on window "halo"
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    MPI_Win_set_name(window, "halo");
    MPI_Win_fence(0, window);
    int x = rank;
    if (rank == 1) MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    if (rank == 0) MPI_Win_fence(MPI_MODE_NOSUCCEED, window);   // HERE 0
    MPI_Win_free(&window);                                      // HERE 1-3
    MPI_Finalize();
    return 0;
}

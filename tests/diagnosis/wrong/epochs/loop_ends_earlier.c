// SPDX-License-Identifier: BSD-3-Clause
// Each rank fences until its own values have converged, so the numbers of fences differ.
// ranks: 2
// expect: T15 ranks 0-1
// says: rank 1 has called MPI_Win_fence 6 times
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    MPI_Win_fence(0, window);
    for (int step = 0; step < 4 + 2 * rank; step++) {
        MPI_Put(&step, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, window);
        MPI_Win_fence(0, window);   // HERE 1
    }
    MPI_Win_free(&window);   // HERE 0
    MPI_Finalize();
    return 0;
}

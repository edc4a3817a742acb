// SPDX-License-Identifier: BSD-3-Clause
// All ranks pass the same assertions to their fences; both omit one fence between two epochs.
// ranks: 2 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    int x = rank;
    for (int step = 0; step < 3; step++) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
        if (rank == 0) MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
        MPI_Win_fence(MPI_MODE_NOSUCCEED | (rank == 0 ? MPI_MODE_NOSTORE : 0), window);
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The next value is computed before the fence, in the origin buffer of a put.
// ranks: 2 3
// expect: T10 ranks 1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = rank;
    MPI_Win_fence(0, win);
    if (rank == 1) {
        MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);   // HERE 1
        x = 7;
    }
    MPI_Win_fence(0, win);   // HERE 1
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

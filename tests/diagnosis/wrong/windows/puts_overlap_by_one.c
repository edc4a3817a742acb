// SPDX-License-Identifier: BSD-3-Clause
// Each rank puts two elements, one too many, so the puts overlap.
// ranks: 2
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
    int x[2] = {rank, rank};
    MPI_Win_fence(0, win);
    MPI_Put(x, 2, MPI_INT, 0, rank, 2, MPI_INT, win);   // HERE 0-1
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Two gets have the same origin buffer, before the first value is used.
// ranks: 2
// expect: warning T11 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *memory, x;
    MPI_Win win;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memory[0] = memory[1] = rank;
    MPI_Win_fence(0, win);
    if (rank == 0) {
        MPI_Get(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);   // HERE 0
        MPI_Get(&x, 1, MPI_INT, 1, 1, 1, MPI_INT, win);   // HERE 0
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

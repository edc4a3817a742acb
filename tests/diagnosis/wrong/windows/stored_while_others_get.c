// SPDX-License-Identifier: BSD-3-Clause
// A rank computes the next value in place while another one gets the previous value.
// ranks: 2 3
// expect: warning T14 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x[2];
    memory[0] = memory[1] = rank;
    MPI_Win_fence(0, win);   // HERE 0
    if (rank == 0) memory[1] += 5;
    if (rank == 1) MPI_Get(x, 2, MPI_INT, 0, 1, 2, MPI_INT, win);   // HERE 1
    MPI_Win_fence(0, win);                                          // HERE 0
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The send buffer of MPI_Iallgather is freed before the operation is complete.
// ranks: 2 3
// expect: T10 ranks 0
// mpiexec: --check
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* mine = malloc(5000 * sizeof *mine);
    int* all = malloc(size * 5000 * sizeof *all);
    for (int i = 0; i < 5000; i++) mine[i] = rank;
    MPI_Request request;
    MPI_Iallgather(mine, 5000, MPI_INT, all, 5000, MPI_INT, MPI_COMM_WORLD, &request);   // HERE 0
    if (rank == 0) free(mine);
    MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    if (rank != 0) free(mine);
    free(all);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 reads empty standard input and broadcasts EOF.
// ranks: 2
#include <stdio.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int c = rank == 0 ? getchar() : EOF;
    MPI_Bcast(&c, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (c != EOF) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 reads the input and broadcasts it.
// ranks: 2 4
// input: 3
#include <stdio.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int steps = 1, sum, x = rank;
    if (rank == 0 && scanf("%d", &steps) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < steps; i++) MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

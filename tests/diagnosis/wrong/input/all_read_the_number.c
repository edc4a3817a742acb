// SPDX-License-Identifier: BSD-3-Clause
// Only rank 0 receives standard input: the others keep their initial value.
// ranks: 2 4
// input: 3
// expect: T01 or T03 or T05 one of all
#include <stdio.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int steps = 1, sum, x = rank;
    if (scanf("%d", &steps) != 1) steps = 1;
    for (int i = 0; i < steps; i++) MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: a sum is wanted for a line of output, so only the rank that prints asks for it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        printf("the sum is %d\n", sum);
    }
    MPI_Finalize();
    return 0;
}

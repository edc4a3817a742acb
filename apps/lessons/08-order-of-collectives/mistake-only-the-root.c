/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: only rank 0 prints the sum, and only rank 0 calls the collective that computes it. */
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

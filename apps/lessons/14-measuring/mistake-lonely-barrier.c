/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: only rank 0, which measures, calls the barrier after the measured part. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    double sum, one = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        printf("%g s\n", MPI_Wtime() - start);
    }
    MPI_Finalize();
    return 0;
}

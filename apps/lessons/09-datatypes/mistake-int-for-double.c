/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the sender sends ints, and the receiver receives doubles. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, counts[4] = {1, 2, 3, 4};
    double means[2] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Send(counts, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Recv(means, 2, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%g %g\n", means[0], means[1]);
    }
    MPI_Finalize();
    return 0;
}

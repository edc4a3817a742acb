/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the root and the other ranks call different collectives in different branches. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, number = 1, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Reduce(&number, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

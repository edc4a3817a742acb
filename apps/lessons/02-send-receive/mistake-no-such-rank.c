/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: ranks are numbered from 0, so rank + 1 is no rank for the last one. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, number = 42;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0)
        MPI_Recv(&number, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&number, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the sender counts from 1 and the receiver from 0, so one message is never sent. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        for (int i = 1; i < 10; ++i)
            MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        for (int i = 0; i < 10; ++i)
            MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

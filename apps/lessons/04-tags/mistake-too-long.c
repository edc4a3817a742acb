/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the message has more numbers than the receive buffer has room for. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, numbers[20] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Send(numbers, 20, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(numbers, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

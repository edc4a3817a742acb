/* SPDX-License-Identifier: BSD-3-Clause */
/* A number is passed from rank 0 to the last rank, and each rank after rank 0 adds one. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, number = 100;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) {
        MPI_Recv(&number, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ++number;
    }
    if (rank < size - 1)
        MPI_Send(&number, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    else
        printf("rank %d has %d\n", rank, number);
    MPI_Finalize();
    return number == 100 + rank ? 0 : 1;
}

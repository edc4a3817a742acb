/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the last rank has no right neighbour, but its left neighbour has one: the last rank. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    double cell[4] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        MPI_Send(&cell[1], 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD);
    if (rank < size - 1)
        MPI_Recv(&cell[3], 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < size - 2)
        MPI_Send(&cell[2], 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Recv(&cell[0], 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

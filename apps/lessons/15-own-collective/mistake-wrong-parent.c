/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: parents send along the tree, and children receive from the rank before them. */
#include <mpi.h>

static void tree_bcast(int *number, MPI_Comm comm)
{
    int rank, size, distance = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    while (2 * distance <= rank)
        distance *= 2;
    if (rank > 0)
        MPI_Recv(number, 1, MPI_INT, rank - 1, 0, comm, MPI_STATUS_IGNORE);
    for (distance = rank > 0 ? 2 * distance : 1; rank + distance < size; distance *= 2)
        MPI_Send(number, 1, MPI_INT, rank + distance, 0, comm);
}

int main(int argc, char **argv)
{
    int number = 1;
    MPI_Init(&argc, &argv);
    tree_bcast(&number, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the tree is correct for 2, 4, 8, … ranks; with three, one of them sends to a rank that does not exist. */
#include <mpi.h>

static void tree_bcast(int *number, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int reached = 1; reached < size; reached *= 2) {
        if (rank < reached)
            MPI_Send(number, 1, MPI_INT, rank + reached, 0, comm);
        else if (rank < 2 * reached)
            MPI_Recv(number, 1, MPI_INT, rank - reached, 0, comm, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int number = 1;
    MPI_Init(&argc, &argv);
    tree_bcast(&number, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: rank 0 overwrites its buffer while it is still being sent. */
#include <mpi.h>
#include <stdio.h>

enum { numbers = 100000 };
static int mine[numbers], theirs[numbers];

int main(int argc, char **argv)
{
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Isend(mine, numbers, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        mine[0] = 7;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 1) {
        MPI_Recv(theirs, numbers, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("rank 1 has %d\n", theirs[0]);
    }
    MPI_Finalize();
    return 0;
}

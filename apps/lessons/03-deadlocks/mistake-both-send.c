/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: both ranks send first. MPI may buffer a small message, but a large send waits for its receive. */
#include <mpi.h>
#include <stdio.h>

enum { numbers = 1000000 };
static int mine[numbers], theirs[numbers];

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int n = 1; n <= numbers && rank < 2; n *= 10) {
        MPI_Send(mine, n, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
        MPI_Recv(theirs, n, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

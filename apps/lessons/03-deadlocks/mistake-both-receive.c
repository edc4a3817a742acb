/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: two ranks want to exchange numbers, and both receive before they send. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, mine, theirs;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = 10 * rank;
    if (rank < 2) {
        MPI_Recv(&theirs, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&mine, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

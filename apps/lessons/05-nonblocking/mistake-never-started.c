/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: MPI_Waitall over four requests of which only two were started. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, mine, theirs;
    MPI_Request requests[4] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = 10 * rank;
    if (rank < 2) {
        MPI_Irecv(&theirs, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&mine, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives and messages overlap; the ranks complete them in different ways after random pauses.
// ranks: 2 4
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = rank, sum, theirs, done;
    MPI_Request requests[3];
    srand(rank);
    for (int step = 0; step < 30; step++) {
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
        usleep(rand() % 25000);
        MPI_Irecv(&theirs, 1, MPI_INT, rank ^ 1, step, MPI_COMM_WORLD, &requests[1]);
        MPI_Issend(&mine, 1, MPI_INT, rank ^ 1, step, MPI_COMM_WORLD, &requests[2]);
        usleep(rand() % 25000);
        if (rank % 2) MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        else MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// One of two receives never completes; it is cancelled at the end.
// ranks: 2 3
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[2], index;
    MPI_Request requests[2];
    if (rank == 0) {
        for (int i = 0; i < 2; i++) MPI_Irecv(&x[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        MPI_Cancel(&requests[1 - index]);
        MPI_Wait(&requests[1 - index], MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        usleep(400000);
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

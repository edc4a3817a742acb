// SPDX-License-Identifier: BSD-3-Clause
// MPI_Waitall waits for a broadcast and a receive: the broadcast completes at rank 1, but no rank sends the message.
// ranks: 2
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int data = 1, x = 0;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Ibcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
    if (rank == 1) MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);   // HERE 1
    MPI_Barrier(MPI_COMM_WORLD);                     // HERE 0
    MPI_Finalize();
    return 0;
}

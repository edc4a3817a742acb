// SPDX-License-Identifier: BSD-3-Clause
// Both ranks start only the receive and wait for it before they start the send.
// ranks: 2
// expect: T20 or T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double mine = rank, theirs;
    MPI_Request requests[2];
    MPI_Recv_init(&theirs, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&mine, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&requests[i]);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);   // HERE 0-1
    }
    for (int i = 0; i < 2; i++) MPI_Request_free(&requests[i]);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Each rank waits for its synchronous send before it posts the receive that the other rank's send needs.
// ranks: 2 6
// expect: T01 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = rank, theirs;
    MPI_Request send, receive;
    MPI_Issend(&mine, 1, MPI_INT, rank ^ 1, 3, MPI_COMM_WORLD, &send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);   // HERE all
    MPI_Irecv(&theirs, 1, MPI_INT, rank ^ 1, 3, MPI_COMM_WORLD, &receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The request is complete and thus null, but is cancelled.
// ranks: 2
// expect: MPI_ERR_REQUEST one of 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, y;
    MPI_Request request;
    MPI_Irecv(&y, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Cancel(&request);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// MPI_Request_get_status reports that a receive is complete, so its buffer may be used.
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0, y = 4, done = 0;
    MPI_Request request;
    MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&y, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    while (!done) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    if (x != 4) MPI_Abort(MPI_COMM_WORLD, 3);
    x = 17;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (x != 17) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}

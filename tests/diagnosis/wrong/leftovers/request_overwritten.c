// SPDX-License-Identifier: BSD-3-Clause
// One variable is used for two requests, so the first request is lost.
// ranks: 2
// expect: warning T07 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static int x[2];
    MPI_Request request;
    int const other = 1 - rank;
    MPI_Irecv(&x[0], 1, MPI_INT, other, 0, MPI_COMM_WORLD, &request);   // HERE 0-1
    MPI_Irecv(&x[1], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &request);
    for (int tag = 0; tag < 2; tag++) MPI_Send(&rank, 1, MPI_INT, other, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

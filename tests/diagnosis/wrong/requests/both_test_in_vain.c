// SPDX-License-Identifier: BSD-3-Clause
// Each rank tests for a message that the other one would send afterwards.
// ranks: 2
// limit: 120
// env: TUTTI_POLLING_LIMIT=2
// expect: warning T19 ranks 0-1 ending with 143
// ended: when it is reported
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, y, done = 0;
    MPI_Request request;
    MPI_Irecv(&y, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);   // HERE 0-1
    MPI_Send(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// MPI_Isend followed directly by MPI_Wait is a blocking send: each rank waits until the other receives 8 MiB.
// ranks: 2 4
// expect: T01 one of all
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 1 << 20;
    double* mine = calloc(count, sizeof(double));
    double* theirs = calloc(count, sizeof(double));
    MPI_Request request;
    MPI_Isend(mine, count, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE all
    MPI_Recv(theirs, count, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

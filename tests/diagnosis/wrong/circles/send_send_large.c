// SPDX-License-Identifier: BSD-3-Clause
// Both ranks send 8 MiB first. Small messages would be buffered; large ones block until they are received.
// ranks: 2 4
// expect: T01 ranks 0-1
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 1 << 20;
    double* mine = calloc(count, sizeof(double));
    double* theirs = calloc(count, sizeof(double));
    if (rank < 2) {
        MPI_Send(mine, count, MPI_DOUBLE, 1 - rank, 5, MPI_COMM_WORLD);   // HERE 0-1
        MPI_Recv(theirs, count, MPI_DOUBLE, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Large nonblocking sends in both directions in many pieces; all are completed at the end.
// ranks: 2 4
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 1 << 17;
    double* mine = calloc(8 * count, sizeof(double));
    double* theirs = calloc(8 * count, sizeof(double));
    MPI_Request requests[16];
    for (int i = 0; i < 8; i++) {
        MPI_Isend(mine + i * count, count, MPI_DOUBLE, rank ^ 1, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Irecv(theirs + i * count, count, MPI_DOUBLE, rank ^ 1, 7 - i, MPI_COMM_WORLD, &requests[8 + i]);
    }
    MPI_Waitall(16, requests, MPI_STATUSES_IGNORE);
    free(theirs);
    free(mine);
    MPI_Finalize();
    return 0;
}

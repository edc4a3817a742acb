// SPDX-License-Identifier: BSD-3-Clause
// MPI_Waitany waits for one of two messages, and neither sender reaches its send.
// ranks: 3
// expect: T01 ranks 0-2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[2], index;
    MPI_Request requests[2];
    if (rank == 0) {
        for (int i = 0; i < 2; i++) MPI_Irecv(&x[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);   // HERE 0
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1-2
    if (rank > 0) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

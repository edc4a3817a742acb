// SPDX-License-Identifier: BSD-3-Clause
// MPI_Waitany could continue with either message, but both senders wait for the waiting rank.
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
        for (int i = 0; i < 2; i++) MPI_Send(&index, 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1-2
        MPI_Send(x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

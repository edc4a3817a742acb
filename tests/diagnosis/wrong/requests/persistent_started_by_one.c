// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 creates persistent sends but starts them only in the first of three steps.
// ranks: 2
// expect: T20 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    MPI_Request request;
    if (rank == 0) MPI_Recv_init(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    if (rank == 1) MPI_Send_init(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    for (int step = 0; step < 3; step++) {
        if (rank == 0 || step == 0) MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    }
    MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1
    MPI_Finalize();
    return 0;
}

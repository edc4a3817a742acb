// SPDX-License-Identifier: BSD-3-Clause
// The persistent receive is created, waited for and freed, but never started. The sender waits for it.
// ranks: 2 3
// expect: T20 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, x = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request request;
    if (rank == 0) {
        MPI_Recv_init(&x, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &request);
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
        MPI_Request_free(&request);
    }
    if (rank == 1) MPI_Ssend(&x, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);   // HERE 1
    MPI_Barrier(MPI_COMM_WORLD);                                      // HERE 0
    MPI_Finalize();
    return 0;
}

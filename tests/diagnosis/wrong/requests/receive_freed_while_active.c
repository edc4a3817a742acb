// SPDX-License-Identifier: BSD-3-Clause
// The request of a receive is freed, so the program cannot determine when its data has arrived.
// ranks: 2
// expect: warning T07 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, x = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);   // HERE 0
        MPI_Request_free(&request);                                  // HERE 0
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

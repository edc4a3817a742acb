// SPDX-License-Identifier: BSD-3-Clause
// The count of a persistent receive is far larger than its buffer.
// ranks: 2
// expect: warning T17 ranks 1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[4] = {0};
    MPI_Request request;
    if (rank == 0) {
        MPI_Send(x, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv_init(x, 1000000000, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Start(&request);   // HERE 1
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    MPI_Finalize();
    return 0;
}

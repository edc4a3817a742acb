// SPDX-License-Identifier: BSD-3-Clause
// The program initializes the buffer after the receive has started.
// ranks: 2
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[10] = {0};
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(x, 10, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);   // HERE 0
        for (int i = 0; i < 10; i++) x[i] = -1;
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    } else {
        MPI_Send(x, 10, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

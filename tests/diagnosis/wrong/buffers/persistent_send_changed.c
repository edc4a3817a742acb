// SPDX-License-Identifier: BSD-3-Clause
// The next value is written before the persistent send of the last one is complete.
// ranks: 2
// expect: T10 ranks 1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    MPI_Request request;
    if (rank == 1) {
        MPI_Send_init(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        for (int step = 0; step < 3; step++) {
            MPI_Start(&request);   // HERE 1
            x = step + 1;
            MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 1
        }
        MPI_Request_free(&request);
    } else {
        for (int step = 0; step < 3; step++) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

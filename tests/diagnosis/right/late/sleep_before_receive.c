// SPDX-License-Identifier: BSD-3-Clause
// Large and synchronous sends wait for a receiver that sleeps.
// ranks: 3
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 1 << 20;
    double* block = calloc(count, sizeof(double));
    if (rank == 0) {
        usleep(500000);
        MPI_Recv(block, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(block, count, MPI_DOUBLE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Send(block, count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    } else {
        MPI_Ssend(block, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    free(block);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// 128 MiB are sent in both directions and then broadcast; a rank waits as long as the copy takes.
// ranks: 2 3
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int const count = 1 << 24;
    double* block = malloc(count * sizeof(double));
    if (rank < 2) {
        if (rank == 0) MPI_Send(block, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        else MPI_Recv(block, count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(block, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(block);
    MPI_Finalize();
    return 0;
}

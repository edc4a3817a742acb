// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 waits in a barrier that rank 1 calls only after it has received 8 MiB from rank 0.
// ranks: 2 4
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 1 << 20;
    double* block = calloc(count, sizeof(double));
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) MPI_Isend(block, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    if (rank == 1) {
        usleep(300000);
        MPI_Recv(block, count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(block);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 has posted its receive and waits for rank 2, which answers only after rank 0's large message has been
// delivered.
// ranks: 3
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 1 << 20, x = 0;
    double* block = calloc(count, sizeof(double));
    MPI_Request request;
    if (rank == 0) {
        MPI_Send(block, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Send(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Irecv(block, count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    free(block);
    MPI_Finalize();
    return 0;
}

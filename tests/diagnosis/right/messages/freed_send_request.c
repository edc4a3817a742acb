// SPDX-License-Identifier: BSD-3-Clause
// The request of a send is freed; the message is delivered while the sender waits for an answer.
// ranks: 2
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 1 << 20, x = 0;
    double* block = calloc(count, sizeof(double));
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(block, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        usleep(300000);
        MPI_Recv(block, count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    free(block);
    MPI_Finalize();
    return 0;
}

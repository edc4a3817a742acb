// SPDX-License-Identifier: BSD-3-Clause
// A large nonblocking send of rank 0 progresses while rank 0 waits in a receive, whose message rank 1 sends after it
// has received the large one.
// ranks: 2
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
        MPI_Isend(block, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(block, count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    free(block);
    MPI_Finalize();
    return 0;
}

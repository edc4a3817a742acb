// SPDX-License-Identifier: BSD-3-Clause
// A rank starts a nonblocking send to itself before its receive.
// ranks: 1 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 5, y = 0;
    MPI_Request request;
    MPI_Isend(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(&y, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&x, 1, MPI_INT, rank, 1, &y, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

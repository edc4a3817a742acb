// SPDX-License-Identifier: BSD-3-Clause
// A rank sends to itself and receives another type.
// ranks: 1
// expect: T06 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 42;
    float x;
    MPI_Request request;
    MPI_Isend(&n, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Recv(&x, 1, MPI_FLOAT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE all
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

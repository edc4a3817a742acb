// SPDX-License-Identifier: BSD-3-Clause
// A message is received as another type by MPI_Irecv and MPI_Wait.
// ranks: 2
// expect: T06 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 42;
    float x = 0;
    MPI_Request request;
    if (rank == 1) {
        MPI_Irecv(&x, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);             // HERE 1
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 1
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(&n, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

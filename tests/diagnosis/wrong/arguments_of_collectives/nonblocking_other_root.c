// SPDX-License-Identifier: BSD-3-Clause
// The roots of a nonblocking broadcast differ.
// ranks: 2 3
// expect: T04 ranks 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    MPI_Request request;
    MPI_Ibcast(&x, 1, MPI_INT, rank == 1 ? 1 : 0, MPI_COMM_WORLD, &request);   // HERE all
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                     // HERE all
    MPI_Finalize();
    return 0;
}

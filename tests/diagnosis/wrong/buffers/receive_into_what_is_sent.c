// SPDX-License-Identifier: BSD-3-Clause
// The answer is received into a buffer that is still being sent.
// ranks: 2
// expect: T11 one of 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x[100] = {0};
    MPI_Request request;
    MPI_Isend(x, 100, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request);           // HERE 0-1
    MPI_Recv(x, 100, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The next operand is computed in the send buffer while MPI_Iallreduce is in progress.
// ranks: 2 3
// expect: T10 ranks 1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double mine[2] = {rank, 1}, sum[2];
    MPI_Request request;
    MPI_Iallreduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);   // HERE 1
    if (rank == 1) mine[1] = 2;
    MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 waits for a request that was never set; its bytes imitate the remains of a stack frame.
// ranks: 2
// expect: T13 ranks 1
// mpiexec: --check
#include <string.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    MPI_Request request;
    memset(&request, 0x5a, sizeof request);
    if (rank == 0) MPI_Isend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    else MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The receive is after a barrier, which the sender reaches only because its message is small.
// ranks: 2 4
// expect: T01 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 5;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);   // HERE 0
    MPI_Barrier(MPI_COMM_WORLD);                                     // HERE 1-last
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

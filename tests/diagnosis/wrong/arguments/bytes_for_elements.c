// SPDX-License-Identifier: BSD-3-Clause
// The count is the number of bytes instead of the number of elements.
// ranks: 2
// expect: warning T17 ranks 1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[200000] = {0};
    if (rank == 0) MPI_Send(x, 10, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(x, sizeof x, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

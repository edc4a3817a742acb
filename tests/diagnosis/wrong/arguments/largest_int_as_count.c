// SPDX-License-Identifier: BSD-3-Clause
// A receive has INT_MAX as its count.
// ranks: 2
// expect: warning T17 ranks 1
// mpiexec: --check
#include <limits.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char line[80] = "a line";
    if (rank == 0) MPI_Send(line, 7, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(line, INT_MAX, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Both counts of MPI_Sendrecv are those of a larger array.
// ranks: 2
// expect: warning T17 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static int x[10], y[10];
    MPI_Sendrecv(x, 10, MPI_INT, 1 - rank, 0, y, 500000000, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,   // HERE 0-1
                 MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

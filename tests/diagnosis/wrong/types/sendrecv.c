// SPDX-License-Identifier: BSD-3-Clause
// Both ranks send ints and receive doubles.
// ranks: 2
// expect: T06 one of 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double mine[2] = {rank, rank};
    int n[4];
    MPI_Sendrecv(mine, 2, MPI_DOUBLE, 1 - rank, 0, n, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,   // HERE 0-1
                 MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The tags differ, and the synchronous sender waits for its receive.
// ranks: 2
// expect: T02 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 1;
    if (rank == 0) MPI_Ssend(&x, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);                     // HERE 0
    if (rank == 1) MPI_Recv(&x, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

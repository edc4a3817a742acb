// SPDX-License-Identifier: BSD-3-Clause
// A rank sends synchronously to itself before it posts the receive.
// ranks: 1 3
// expect: T01 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1, y;
    if (rank == 0) {
        MPI_Ssend(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
        MPI_Recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

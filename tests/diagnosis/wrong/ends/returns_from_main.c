// SPDX-License-Identifier: BSD-3-Clause
// A rank returns from main without MPI_Finalize, and another one waits for its message.
// ranks: 2
// whole: it returns from main
// expect: T09 ranks 0 ending with 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    if (rank == 0) return 0;
    MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

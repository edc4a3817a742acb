// SPDX-License-Identifier: BSD-3-Clause
// The sender's loop ends one message too early.
// ranks: 2
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    for (int i = 1; i < 100 && rank == 0; i++) MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 100 && rank == 1; i++) {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 0
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// After a thousand correct exchanges, one rank changes its order of send and receive.
// ranks: 2
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, other = 1 - rank;
    for (int step = 0; step < 1000; step++) {
        if (rank == 0 && step < 900) MPI_Send(&x, 1, MPI_INT, other, step, MPI_COMM_WORLD);
        MPI_Recv(&x, 1, MPI_INT, other, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
        if (rank == 1 || step >= 900) MPI_Send(&x, 1, MPI_INT, other, step, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The loop of the sender has one step more than that of the receiver.
// ranks: 2 4
// expect: warning T07 ranks 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    if (rank == 0)
        for (int i = 0; i <= 10; i++) MPI_Send(&x, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);   // HERE 0
    if (rank == 1)
        for (int i = 0; i < 10; i++) MPI_Recv(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

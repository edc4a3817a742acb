// SPDX-License-Identifier: BSD-3-Clause
// The argument gives fewer messages than are received.
// ranks: 2
// args: 1
// expect: T01 or T05 ranks 1
#include <stdlib.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0, n = atoi(argv[1]);
    if (rank == 0)
        for (int i = 0; i < n; i++) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        for (int i = 0; i < 2; i++) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

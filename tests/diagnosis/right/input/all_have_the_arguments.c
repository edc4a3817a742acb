// SPDX-License-Identifier: BSD-3-Clause
// All ranks receive the same arguments.
// ranks: 2
// args: 3
#include <stdlib.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0, n = atoi(argv[1]);
    for (int i = 0; i < n; i++)
        if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        else MPI_Recv(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

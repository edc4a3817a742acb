// SPDX-License-Identifier: BSD-3-Clause
// An int is received as a float, which has the same size.
// ranks: 2
// expect: T06 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n[3] = {1, 2, 3};
    float x[3];
    if (rank == 0) MPI_Send(n, 3, MPI_INT, 1, 5, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(x, 3, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

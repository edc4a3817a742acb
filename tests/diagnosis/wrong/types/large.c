// SPDX-License-Identifier: BSD-3-Clause
// Large messages, which are transferred when they are received, are received as another type.
// ranks: 2
// expect: T06 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    enum { count = 200000 };
    static float x[count];
    static int n[count];
    if (rank == 0) MPI_Send(x, count, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(n, count, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

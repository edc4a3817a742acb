// SPDX-License-Identifier: BSD-3-Clause
// A synchronous send is received as another type.
// ranks: 2
// expect: T06 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x[2] = {1, 2};
    long n[2];
    if (rank == 0) MPI_Ssend(x, 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(n, 2, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

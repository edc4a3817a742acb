// SPDX-License-Identifier: BSD-3-Clause
// The send buffer is a null pointer.
// ranks: 2
// expect: MPI_ERR_BUFFER ranks 0
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *a = 0, b[4];
    if (rank == 0) MPI_Send(a, 4, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);   // HERE 0
    if (rank == 1) MPI_Recv(b, 4, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

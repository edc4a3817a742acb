// SPDX-License-Identifier: BSD-3-Clause
// A message is longer than its receive.
// ranks: 2
// expect: MPI_ERR_TRUNCATE ranks 1
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int a[10] = {0};
    if (rank == 0) MPI_Send(a, 10, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(a, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

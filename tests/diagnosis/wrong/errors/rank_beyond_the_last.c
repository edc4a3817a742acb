// SPDX-License-Identifier: BSD-3-Clause
// The last rank sends to its right neighbour, which does not exist.
// ranks: 2 4
// expect: MPI_ERR_RANK ranks last
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Send(&rank, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);   // HERE last
    if (rank > 0) MPI_Recv(&size, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

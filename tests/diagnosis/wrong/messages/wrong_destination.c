// SPDX-License-Identifier: BSD-3-Clause
// The message for rank 2 is sent to rank 1, which never receives it.
// ranks: 3 4
// expect: T01 ranks 0 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 2) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 2
    MPI_Barrier(MPI_COMM_WORLD);                                                        // HERE 0-1 3
    MPI_Finalize();
    return 0;
}

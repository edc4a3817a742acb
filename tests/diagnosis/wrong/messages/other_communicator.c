// SPDX-License-Identifier: BSD-3-Clause
// A message is sent on a duplicate and received on MPI_COMM_WORLD.
// ranks: 2 3
// expect: T01 or T05 ranks 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, copy);
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Each rank computes the tag from its process ID.
// ranks: 2
// expect: T02 ranks 1
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0, tag = getpid() % 30000;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    else MPI_Recv(&x, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

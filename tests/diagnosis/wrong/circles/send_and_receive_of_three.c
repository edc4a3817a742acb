// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 waits for 1, which sends synchronously to 2, which probes for a message of 0.
// ranks: 3 6
// expect: T01 ranks 0-2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
    if (rank == 1) MPI_Ssend(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);                     // HERE 1
    if (rank == 2) MPI_Probe(0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);                  // HERE 2
    if (rank == 2) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

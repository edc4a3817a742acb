// SPDX-License-Identifier: BSD-3-Clause
// A message without data is not received.
// ranks: 2
// expect: warning T07 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) MPI_Send(&rank, 0, MPI_INT, 0, 3, MPI_COMM_WORLD);   // HERE 1
    MPI_Finalize();
    return 0;
}

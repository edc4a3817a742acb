// SPDX-License-Identifier: BSD-3-Clause
// A message is never received, so its send may block forever.
// ranks: 2
// expect: T05 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 5;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);   // HERE 0
    MPI_Finalize();
    return 0;
}

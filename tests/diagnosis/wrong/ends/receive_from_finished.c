// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 has finished without sending what rank 1 waits for.
// ranks: 2 3
// expect: T05 ranks 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x;
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

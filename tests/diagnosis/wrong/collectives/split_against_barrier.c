// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split is collective, but only half of the ranks call it; the others call a barrier.
// ranks: 2 4
// expect: T03 one of all
// expect nodes: T03 or T05 or T01 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm odd = MPI_COMM_NULL;
    if (rank % 2 == 1) MPI_Comm_split(MPI_COMM_WORLD, 1, rank, &odd);   // HERE 1 3
    else MPI_Barrier(MPI_COMM_WORLD);                                   // HERE 0 2
    if (odd != MPI_COMM_NULL) MPI_Comm_free(&odd);
    MPI_Finalize();
    return 0;
}

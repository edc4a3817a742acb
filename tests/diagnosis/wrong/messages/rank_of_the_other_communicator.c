// SPDX-License-Identifier: BSD-3-Clause
// Ranks differ between communicators: rank 1 of the even half is rank 2 of the world, not the neighbour.
// ranks: 4
// expect: T01 ranks 0 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, half, MPI_STATUS_IGNORE);   // HERE 0
    if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, half);
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1-3
    MPI_Finalize();
    return 0;
}

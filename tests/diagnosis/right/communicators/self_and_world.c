// SPDX-License-Identifier: BSD-3-Clause
// Collectives on MPI_COMM_SELF do not wait for other ranks, whatever their order relative to those on MPI_COMM_WORLD.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, sum;
    for (int i = 0; i < 1 + rank; i++) MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Barrier(MPI_COMM_SELF);
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

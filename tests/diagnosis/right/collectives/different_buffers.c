// SPDX-License-Identifier: BSD-3-Clause
// Ranks use MPI_IN_PLACE or a buffer, and arguments that are significant only at the root, in the same collective.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = rank, sum = rank, all[8];
    MPI_Allreduce(rank == 0 ? MPI_IN_PLACE : &mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(&mine, 1, MPI_INT, rank == 0 ? all : 0, rank == 0 ? 1 : -7, rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(rank == 1 ? MPI_IN_PLACE : &mine, rank == 1 ? &sum : 0, 1, MPI_INT, MPI_MAX, 1, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

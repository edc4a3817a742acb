/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: rank 0 asks for the maximum and the other ranks for the sum. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, result;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &result, 1, MPI_INT, rank == 0 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

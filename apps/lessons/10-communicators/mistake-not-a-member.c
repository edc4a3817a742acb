/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: a rank that passed MPI_UNDEFINED is not in the new communicator, and uses its null handle. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm some;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, rank, &some);
    MPI_Barrier(some);
    MPI_Comm_free(&some);
    MPI_Finalize();
    return 0;
}

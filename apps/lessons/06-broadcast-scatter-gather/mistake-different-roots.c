/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: each rank wants to broadcast its own number, and names itself as the root. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, number;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    number = 10 * rank;
    MPI_Bcast(&number, 1, MPI_INT, rank, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

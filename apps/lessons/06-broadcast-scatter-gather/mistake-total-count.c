/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the root passes the number of all elements to MPI_Scatter, which expects the number per rank. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, mine[2], all[2 * 64] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Scatter(all, 2 * size, MPI_INT, mine, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

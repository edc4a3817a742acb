/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the root is named by its rank in MPI_COMM_WORLD, which differs from its rank among the odd ranks. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, number = 1;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_name(half, rank % 2 ? "odd ranks" : "even ranks");
    const int root = rank % 2 ? size - 1 : 0;
    MPI_Bcast(&number, 1, MPI_INT, root, half);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: MPI_Comm_rank is called before MPI_Init. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Init(&argc, &argv);
    printf("rank %d\n", rank);
    MPI_Finalize();
    return 0;
}

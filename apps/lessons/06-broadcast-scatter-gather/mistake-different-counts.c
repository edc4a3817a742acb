/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: only the root knows how many numbers there are; the other ranks pass an older count. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, count = 4, numbers[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        count = 8;
    MPI_Bcast(numbers, count, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A histogram distributed over all ranks: each rank adds to the counters of the others, which make no call for it. */
#include <mpi.h>
#include <stdio.h>

enum { numbers = 1000 };

int main(int argc, char **argv)
{
    int rank, size, *counter;
    const int one = 1;
    long sum = 0, all = 0;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
    *counter = 0;

    MPI_Win_fence(0, window);   /* all counters are 0 now, and may be accessed */
    for (int i = 0; i < numbers; ++i)
        MPI_Accumulate(&one, 1, MPI_INT, i * (rank + 1) % size, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);   /* all additions are complete */

    sum = *counter;
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld numbers, %d of them here\n", all, *counter);
    MPI_Win_free(&window);
    MPI_Finalize();
    return rank > 0 || all == (long)numbers * size ? 0 : 1;
}

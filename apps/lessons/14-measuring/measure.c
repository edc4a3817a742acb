/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures MPI_Allreduce: warmed up, over many calls, on the slowest rank. */
#include <mpi.h>
#include <stdio.h>

enum { warmup = 20, calls = 200, rounds = 7 };

/* Seconds per call on this rank. */
static double time_of(int times, double *sum)
{
    const double one = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < times; ++i)
        MPI_Allreduce(&one, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (MPI_Wtime() - start) / times;
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0, best = 1e9;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    time_of(warmup, &sum);
    for (int round = 0; round < rounds; ++round) {
        double slowest, mine = time_of(calls, &sum);
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        best = slowest < best ? slowest : best;
    }
    if (rank == 0)
        printf("%d ranks: %.2f us\n", size, 1e6 * best);
    MPI_Finalize();
    return sum == size && best > 0 ? 0 : 1;
}

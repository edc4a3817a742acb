/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 scatters numbers, each rank scales its share, and rank 0 gathers the results. */
#include <mpi.h>
#include <stdio.h>

enum { share = 3, most_ranks = 64 };

int main(int argc, char **argv)
{
    int rank, size, right = 1;
    double factor = 0, all[share * most_ranks], mine[share];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > most_ranks)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) {
        factor = 10;
        for (int i = 0; i < share * size; ++i)
            all[i] = i;
    }

    MPI_Bcast(&factor, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Scatter(all, share, MPI_DOUBLE, mine, share, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < share; ++i)
        mine[i] *= factor;
    MPI_Gather(mine, share, MPI_DOUBLE, all, share, MPI_DOUBLE, 0, MPI_COMM_WORLD);

    for (int i = 0; rank == 0 && i < share * size; ++i) {
        printf("%g%s", all[i], i + 1 < share * size ? " " : "\n");
        right = right && all[i] == 10.0 * i;
    }
    MPI_Finalize();
    return right ? 0 : 1;
}

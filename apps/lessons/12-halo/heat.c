/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a rod that is distributed over the ranks: each step needs the outermost cells of the neighbours. Rank 0
 * compares the result with that of a serial computation. */
#include <mpi.h>
#include <stdio.h>

enum { cells = 8, steps = 200, most_ranks = 64 };

static double warm(int cell) { return cell == 3 ? 100 : 0; }

/* One step over now[1] to now[n]; now[0] and now[n + 1] are the halo. */
static void step_over(const double *now, double *next, int n)
{
    for (int i = 1; i <= n; ++i)
        next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
}

static void copy(double *to, const double *from, int n)
{
    for (int i = 1; i <= n; ++i)
        to[i] = from[i];
}

/* Is the gathered rod equal to the result of a serial computation? */
static int as_alone(const double *rod, int n)
{
    double now[cells * most_ranks + 2] = {0}, next[cells * most_ranks + 2];
    int same = 1;
    for (int i = 0; i < n; ++i)
        now[i + 1] = warm(i);
    for (int step = 0; step < steps; ++step) {
        step_over(now, next, n);
        copy(now, next, n);
    }
    for (int i = 0; i < n; ++i)
        same = same && rod[i] == now[i + 1];
    return same;
}

int main(int argc, char **argv)
{
    int rank, size, right = 1;
    double now[cells + 2] = {0}, next[cells + 2], rod[cells * most_ranks];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > most_ranks)
        MPI_Abort(MPI_COMM_WORLD, 1);
    const int before = rank > 0 ? rank - 1 : MPI_PROC_NULL, behind = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < cells; ++i)
        now[i + 1] = warm(rank * cells + i);

    for (int step = 0; step < steps; ++step) {
        MPI_Sendrecv(&now[1], 1, MPI_DOUBLE, before, 0, &now[cells + 1], 1, MPI_DOUBLE, behind, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(&now[cells], 1, MPI_DOUBLE, behind, 0, &now[0], 1, MPI_DOUBLE, before, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        step_over(now, next, cells);
        copy(now, next, cells);
    }

    MPI_Gather(&now[1], cells, MPI_DOUBLE, rod, cells, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        right = as_alone(rod, cells * size);
        printf("%s: the first cell has %.3f degrees\n", right ? "right" : "WRONG", rod[0]);
    }
    MPI_Finalize();
    return right ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes pi as the area under 4 / (1 + x²) from 0 to 1: each rank adds up some stripes, a reduction adds the sums. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { stripes = 1000000 };

/* A user-defined operator: the larger absolute value. */
static void farther(void *in, void *inout, int *count, MPI_Datatype *type)
{
    double *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *count; ++i)
        b[i] = fmax(fabs(a[i]), fabs(b[i]));
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    double area = 0, pi = 0;
    for (int i = rank; i < stripes; i += size) {
        const double x = (i + 0.5) / stripes;
        area += 4 / (1 + x * x) / stripes;
    }
    MPI_Allreduce(&area, &pi, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

    MPI_Op op;
    double deviation = fabs(area - pi / size), farthest = 0;
    MPI_Op_create(farther, 1, &op);
    MPI_Reduce(&deviation, &farthest, 1, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    if (rank == 0)
        printf("pi is %.9f, and no share deviates by as much as 0.001: %s\n", pi, farthest < 0.001 ? "yes" : "no");
    MPI_Finalize();
    return fabs(pi - 3.141592654) < 1e-9 ? 0 : 1;
}

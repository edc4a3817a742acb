/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: each rank tests its own error, so some ranks leave the loop before others. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, steps = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double error = 1 << rank, largest;
    while (error > 0.1) {
        error /= 2;
        ++steps;
        MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

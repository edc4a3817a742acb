/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks halve their errors and leave the loop in the same step, because all test the same maximum. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, steps = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double error = rank + 1, largest;
    do {
        error /= 2;
        ++steps;
        MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    } while (largest > 0.1);

    int root_steps = steps;
    MPI_Bcast(&root_steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == size - 1)
        printf("%d steps, on rank 0 as well as on rank %d\n", steps, rank);
    MPI_Finalize();
    return steps == root_steps ? 0 : 1;
}

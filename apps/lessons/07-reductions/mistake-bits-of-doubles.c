/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: MPI_BAND combines the bits of integers. The logical "and" is MPI_LAND, not defined for doubles either. */
#include <mpi.h>

int main(int argc, char **argv)
{
    double yes = 1, all;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&yes, &all, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

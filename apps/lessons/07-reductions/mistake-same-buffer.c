/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the sum shall replace the number, so the same variable is given twice. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int number = 1;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&number, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the sum is to replace the number, so the program passes the same variable twice. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int number = 1;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&number, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: a grid of fixed size needs more ranks than the job has. */
#include <mpi.h>

int main(int argc, char **argv)
{
    const int dims[2] = {3, 2}, periods[2] = {0, 0};
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}

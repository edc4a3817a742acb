/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the grid is smaller than the job, and the remaining ranks use it as well. */
#include <mpi.h>

int main(int argc, char **argv)
{
    const int dims[2] = {3, 1}, periods[2] = {0, 0};
    int left, right;
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &left, &right);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks form a grid that is periodic in both directions; each rank receives a number from its four neighbours. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, at[2], sum = 0, expected = 0;
    int dims[2] = {0, 0};
    const int periods[2] = {1, 1};
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, at);

    for (int direction = 0; direction < 2; ++direction) {
        for (int step = -1; step <= 1; step += 2) {
            int from, to, number;
            MPI_Cart_shift(grid, direction, step, &from, &to);
            MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &number, 1, MPI_INT, from, 0, grid, MPI_STATUS_IGNORE);
            sum += number;
            expected += from;
        }
    }
    printf("(%d, %d) of %d x %d: the neighbours' sum is %d\n", at[0], at[1], dims[0], dims[1], sum);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return sum == expected ? 0 : 1;
}

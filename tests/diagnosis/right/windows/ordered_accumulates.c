// SPDX-License-Identifier: BSD-3-Clause
// Accumulates of one origin to one location are applied in the order of their calls, whatever their operators.
// ranks: 2 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = 2, y = 5, before = -1, right = (rank + 1) % size;
    memory[0] = 0;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&y, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Accumulate(&x, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_PROD, win);
    MPI_Accumulate(&x, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Fetch_and_op(&x, &before, MPI_INT, right, 0, MPI_MAX, win);
    MPI_Win_fence(0, win);
    int const wrong = before != 12 || memory[0] != 12;
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}

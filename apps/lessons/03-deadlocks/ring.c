/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks pass numbers around a ring until each rank has added up the numbers of all ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int mine = rank, sum = rank;
    for (int step = 1; step < size; ++step) {
        int next;
        MPI_Sendrecv(&mine, 1, MPI_INT, right, 0, &next, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine = next;
        sum += mine;
    }
    printf("rank %d has the sum %d\n", rank, sum);
    MPI_Finalize();
    return sum == size * (size - 1) / 2 ? 0 : 1;
}

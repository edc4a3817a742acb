/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: a message to the left is received with the tag of messages to the right. */
#include <mpi.h>

enum { to_left = 1, to_right = 2 };

int main(int argc, char **argv)
{
    int rank, size;
    double cell[4] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&cell[1], 1, MPI_DOUBLE, left, to_left, &cell[0], 1, MPI_DOUBLE, left, to_left, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&cell[2], 1, MPI_DOUBLE, right, to_right, &cell[3], 1, MPI_DOUBLE, right, to_right, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

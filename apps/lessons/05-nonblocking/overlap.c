/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank sends numbers to its right neighbour and computes something else meanwhile. */
#include <mpi.h>
#include <stdio.h>

enum { count = 50000 };
static double mine[count], theirs[count];

static double own_work(void)
{
    double sum = 0;
    for (int i = 1; i < 1000000; ++i)
        sum += 1.0 / i / i;
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < count; ++i)
        mine[i] = rank;

    MPI_Request requests[2];
    MPI_Irecv(theirs, count, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(mine, count, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[1]);
    const double work = own_work();   /* uses neither buffer */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

    printf("rank %d worked out %.4f and has the numbers of rank %.0f\n", rank, work, theirs[count - 1]);
    MPI_Finalize();
    return theirs[0] == left && theirs[count - 1] == left ? 0 : 1;
}

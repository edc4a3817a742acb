/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 distributes numbers to idle ranks, which return the squares; the tag is the kind of a message. */
#include <mpi.h>
#include <stdio.h>

enum { question = 1, answer = 2, enough = 3, questions = 20 };

/* Sends the next number, or that there are none left; returns how many numbers it sent. */
static int send_next(int *next, int rank)
{
    const int more = *next < questions;
    MPI_Send(next, 1, MPI_INT, rank, more ? question : enough, MPI_COMM_WORLD);
    *next += more;
    return more;
}

static long ask(int size)
{
    int next = 0, open = 0;
    long sum = 0;
    for (int rank = 1; rank < size; ++rank)
        open += send_next(&next, rank);
    while (open > 0) {
        int square;
        MPI_Status status;
        MPI_Recv(&square, 1, MPI_INT, MPI_ANY_SOURCE, answer, MPI_COMM_WORLD, &status);
        sum += square;
        open += send_next(&next, status.MPI_SOURCE) - 1;
    }
    return sum;
}

static void serve(void)
{
    for (;;) {
        int number;
        MPI_Status status;
        MPI_Recv(&number, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == enough)
            return;
        number *= number;
        MPI_Send(&number, 1, MPI_INT, 0, answer, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, size, right = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        const long sum = ask(size);
        right = sum == 2470;
        printf("the squares of 0 to %d sum up to %ld\n", questions - 1, sum);
    } else {
        serve();
    }
    MPI_Finalize();
    return right ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A user-written broadcast along a binomial tree, checked with every root and compared with MPI_Bcast. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { bytes = 4096, rounds = 200 };

typedef int Broadcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm);

/* Ranks are numbered from the root. In the step of each distance, 1, 2, 4, …, the ranks below it have the data, and
 * each of them sends it to the rank that is the distance behind it. */
static int tree_bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int relative_rank = (rank - root + size) % size;
    for (int distance = 1; distance < size; distance *= 2) {
        if (relative_rank < distance && relative_rank + distance < size)
            MPI_Send(data, count, type, (rank + distance) % size, 0, comm);
        else if (relative_rank >= distance && relative_rank < 2 * distance)
            MPI_Recv(data, count, type, (rank - distance + size) % size, 0, comm, MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}

/* Do all ranks get the root's data, for every root? */
static int is_right(Broadcast *broadcast, MPI_Comm comm)
{
    int rank, size, right = 1, all;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; ++root) {
        int data[3] = {rank, -rank, 7 * rank};
        broadcast(data, 3, MPI_INT, root, comm);
        right = right && data[0] == root && data[1] == -root && data[2] == 7 * root;
    }
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

/* Seconds per call on the slowest rank. */
static double time_of(Broadcast *broadcast, MPI_Comm comm)
{
    static char data[bytes];
    double mine, slowest;
    MPI_Barrier(comm);
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) {
        broadcast(data, bytes, MPI_BYTE, 0, comm);
        MPI_Barrier(comm);   /* so that no rank starts the next broadcast early */
    }
    mine = (MPI_Wtime() - start) / rounds;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
    return slowest;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm own;   /* so that its messages match no others */
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_rank(own, &rank);
    const int right = is_right(tree_bcast, own) && is_right(MPI_Bcast, own);
    time_of(tree_bcast, own);
    const double tree = time_of(tree_bcast, own), library = time_of(MPI_Bcast, own);
    if (rank == 0)
        printf("%s: tree %.2f us, MPI_Bcast %.2f us, both with a barrier\n", right ? "right" : "WRONG", 1e6 * tree,
               1e6 * library);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

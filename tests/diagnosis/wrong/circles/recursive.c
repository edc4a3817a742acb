// SPDX-License-Identifier: BSD-3-Clause
// The deadlock is at the bottom of a recursion: in a tree, a child waits for its parent and the parent for the child.
// ranks: 2 4
// expect: T01 ranks 0-1
#include <mpi.h>

static void descend(int rank, int depth) {
    int x = depth;
    if (depth > 0) descend(rank, depth - 1);
    else if (rank < 2) MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    descend(rank, 10);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The second sender sends after it has been notified that the first message was received: by a message of the receiver,
// by that of another rank, by a collective with a rank that was notified, or by a rank whose synchronous send to the
// receiver is complete.
// ranks: 5
#include <mpi.h>

static int rank;

/// Rank 0 receives from any source; `x` of rank `from` is sent.
static void pass(int from, int synchronous) {
    int x = rank;
    if (rank == from && synchronous) MPI_Ssend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    else if (rank == from) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0 && x != from) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void notify(int from, int to) {
    int x = 0;
    if (rank == from) MPI_Send(&x, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
    if (rank == to) MPI_Recv(&x, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm others;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 3, rank, &others);   // 0-2, 3-4
    pass(1, 0);
    notify(0, 2);
    pass(2, 0);
    notify(0, 3);
    MPI_Barrier(others);
    pass(4, 0);
    notify(0, 1);
    notify(1, 2);
    pass(2, 0);
    notify(0, 3);
    pass(3, 1);
    notify(3, 1);
    pass(1, 0);
    MPI_Comm_free(&others);
    MPI_Finalize();
    return 0;
}

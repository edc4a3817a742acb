// SPDX-License-Identifier: BSD-3-Clause
// A rank sends to itself; the receive is posted before, or the send is nonblocking.
// unchecked: relies on buffering of messages, which MPI does not guarantee
// ranks: 1 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = rank, back[3];
    MPI_Request request;
    MPI_Send(&mine, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Recv(&back[0], 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(&back[1], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
    MPI_Ssend(&mine, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&mine, 1, MPI_INT, 0, 2, &back[2], 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

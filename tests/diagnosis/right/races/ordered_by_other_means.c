// SPDX-License-Identifier: BSD-3-Clause
// The second sender sends after a nonblocking barrier, a neighbourhood collective, a fence, or a collective that
// creates a communicator, each of which orders the send after the receive.
// ranks: 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x, all[6], memory = 0, size = 3, periodic = 1;
    MPI_Request request;
    MPI_Comm ring, copy = MPI_COMM_NULL;
    MPI_Win window;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    for (int step = 0; step < 10; step++) {
        x = rank;
        if (rank == 1 + step % 2) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0 && x != 1 + step % 2) MPI_Abort(MPI_COMM_WORLD, 1);
        switch (step % 4) {
        case 0:
            MPI_Ibarrier(MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        case 1: MPI_Neighbor_allgather(&x, 1, MPI_INT, all, 1, MPI_INT, ring); break;
        case 2: MPI_Win_fence(0, window); break;
        case 3:
            MPI_Comm_dup(MPI_COMM_WORLD, &copy);
            MPI_Comm_free(&copy);
        }
        if (step % 5 == 4) MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}

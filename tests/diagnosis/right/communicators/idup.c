// SPDX-License-Identifier: BSD-3-Clause
// A communicator is duplicated by MPI_Comm_idup while the ranks exchange messages.
// ranks: 2 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    MPI_Comm copy;
    MPI_Request request;
    if (rank == 1) usleep(300000);
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Sendrecv_replace(&x, 1, MPI_INT, rank ^ 1, 0, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}

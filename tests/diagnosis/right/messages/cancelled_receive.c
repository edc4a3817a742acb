// SPDX-License-Identifier: BSD-3-Clause
// A receive without a matching send is cancelled; MPI_Wait returns immediately.
// ranks: 2
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x, cancelled;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    if (rank == 0) usleep(300000);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return !cancelled;
}

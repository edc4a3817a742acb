// SPDX-License-Identifier: BSD-3-Clause
// A persistent send is started and freed without being completed.
// ranks: 2
// expect: warning T07 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int out = rank, in;
    MPI_Request send, receive;
    MPI_Send_init(&out, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &send);
    MPI_Recv_init(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &receive);
    MPI_Start(&send);   // HERE 0-1
    MPI_Start(&receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Request_free(&send);   // HERE 0-1
    MPI_Request_free(&receive);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A communicator is disconnected while a receive on it is pending.
// ranks: 2
// expect: T16 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Request request;
    if (rank == 0) MPI_Irecv(&x, 1, MPI_INT, 1, 0, comm, &request);   // HERE 0
    MPI_Comm_disconnect(&comm);   // HERE 0
    MPI_Finalize();
    return 0;
}

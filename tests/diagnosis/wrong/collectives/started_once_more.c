// SPDX-License-Identifier: BSD-3-Clause
// The root starts its persistent broadcast once more than the others, and does not need to wait for them.
// ranks: 2 3
// expect: T03 one of all
// says: persistent collectives on a communicator of
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, x = 0;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Bcast_init(&x, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3 + (rank == 0); i++) {
        MPI_Start(&request);   // HERE all
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A communicator is freed while operations on it are pending, which are never completed.
// ranks: 2
// expect: warning T16 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Request request;
    if (rank == 0) MPI_Irecv(&x, 1, MPI_INT, 1, 0, comm, &request);   // HERE 0
    else MPI_Isend(&x, 1, MPI_INT, 0, 0, comm, &request);             // HERE 1
    MPI_Comm_free(&comm);                                             // HERE 0-1
    MPI_Finalize();
    return 0;
}

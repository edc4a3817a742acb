// SPDX-License-Identifier: BSD-3-Clause
// The send buffer of MPI_Isendrecv is changed before the wait.
// ranks: 2
// expect: T10 one of 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, y;
    MPI_Request request;
    MPI_Isendrecv(&x, 1, MPI_INT, 1 - rank, 0, &y, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);   // HERE 0-1
    x = -1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

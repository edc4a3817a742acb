// SPDX-License-Identifier: BSD-3-Clause
// A value is sent before its receive is complete.
// ranks: 3
// expect: T11 ranks 1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    MPI_Request request;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);   // HERE 1
        MPI_Send(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);              // HERE 1
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 2) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The root broadcasts a buffer whose receive is not complete.
// ranks: 2 3
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 7;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Irecv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);   // HERE 0
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);                               // HERE 0
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

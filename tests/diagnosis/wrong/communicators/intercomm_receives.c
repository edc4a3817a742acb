// SPDX-License-Identifier: BSD-3-Clause
// Both groups of an intercommunicator receive from their remote partners, and none sends.
// ranks: 2 4
// expect: T01 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int half = size / 2, x = 0;
    MPI_Comm own, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank < half, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank < half ? half : 0, 0, &both);
    MPI_Recv(&x, 1, MPI_INT, rank % half, 0, both, MPI_STATUS_IGNORE);   // HERE all
    MPI_Comm_free(&both);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}

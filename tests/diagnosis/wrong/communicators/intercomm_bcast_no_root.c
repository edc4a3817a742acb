// SPDX-License-Identifier: BSD-3-Clause
// In a broadcast over an intercommunicator the root passes MPI_ROOT. Here both groups only receive.
// ranks: 2
// expect: T01 or T04 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    MPI_Comm own, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - rank, 0, &both);
    MPI_Bcast(&x, 1, MPI_INT, 0, both);   // HERE 0-1
    MPI_Comm_free(&both);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}

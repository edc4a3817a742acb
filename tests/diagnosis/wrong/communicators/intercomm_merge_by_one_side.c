// SPDX-License-Identifier: BSD-3-Clause
// One group merges the intercommunicator, the other one waits for a message from it.
// ranks: 2
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    MPI_Comm own, both, merged;
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - rank, 0, &both);
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, both, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Intercomm_merge(both, rank, &merged);                                 // HERE 0
    if (rank == 0) MPI_Barrier(merged);                                       // HERE 0
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 0, 0, both);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&both);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 waits for a message before it splits; the sender sends it on the new communicator.
// ranks: 2 4
// expect: T01 or T03 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    MPI_Comm half;
    if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);                              // HERE 1-last
    if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, half);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 sends to 0, but 0 waits for a message of rank 2, which waits in MPI_Finalize.
// ranks: 3 4
// expect: T01 ranks 0 2
// says: a message with tag 0 from rank 1 has arrived
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1;
    if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
    MPI_Barrier(MPI_COMM_WORLD);                                                        // HERE 1-3
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are in no part must also call MPI_Comm_split, with MPI_UNDEFINED; here they do not.
// ranks: 3 5
// expect: T01 or T03 one of 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    MPI_Comm pair;
    if (rank < 2) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &pair);   // HERE 0-1
        MPI_Bcast(&x, 1, MPI_INT, 0, pair);
        MPI_Comm_free(&pair);
        if (rank == 0) MPI_Send(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 2
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Both ranks send first with MPI_Ssend, which blocks until the message is received.
// ranks: 2 3
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank < 2) {
        int mine = rank, other;
        MPI_Ssend(&mine, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);   // HERE 0-1
        MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

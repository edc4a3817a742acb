// SPDX-License-Identifier: BSD-3-Clause
// Both send first. It is not portable, but messages as small as these are buffered.
// unchecked: MPI may let both wait, and with --check it does
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = rank, theirs;
    MPI_Send(&mine, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&theirs, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

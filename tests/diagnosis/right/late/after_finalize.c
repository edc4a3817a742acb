// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 works for half a second after MPI_Finalize.
// ranks: 2 3
// whole: work after MPI_Finalize
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    if (rank == 0) usleep(500000);
    return 0;
}

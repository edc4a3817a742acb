// SPDX-License-Identifier: BSD-3-Clause
// One rank computes for half a second when all others have called MPI_Finalize.
// ranks: 2 4 8
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) usleep(500000);
    MPI_Finalize();
    return 0;
}

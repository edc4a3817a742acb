// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_disconnect waits for pending messages of all ranks; one rank calls it half a second late.
// ranks: 2 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (rank == 0) usleep(500000);
    MPI_Comm_disconnect(&copy);
    MPI_Finalize();
    return 0;
}

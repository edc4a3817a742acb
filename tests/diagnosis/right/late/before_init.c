// SPDX-License-Identifier: BSD-3-Clause
// One rank reads its input for half a second before it calls MPI_Init.
// ranks: 2 4
// whole: work before MPI_Init
#include <stdlib.h>
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    char const* place = getenv("PMI_RANK");
    if (place && atoi(place) == 1) usleep(500000);
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

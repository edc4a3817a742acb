// SPDX-License-Identifier: BSD-3-Clause
// One rank comes late to each call that creates a communicator.
// ranks: 2 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int periodic = 0, side = size;
    MPI_Comm comms[4];
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < 4; i++) {
        if (rank == i % size) usleep(200000);
        if (i == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        if (i == 1) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[i]);
        if (i == 2) MPI_Comm_create(MPI_COMM_WORLD, world, &comms[i]);
        if (i == 3) MPI_Cart_create(MPI_COMM_WORLD, 1, &side, &periodic, 1, &comms[i]);
    }
    for (int i = 0; i < 4; i++) MPI_Comm_free(&comms[i]);
    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}

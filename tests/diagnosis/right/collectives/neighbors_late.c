// SPDX-License-Identifier: BSD-3-Clause
// An exchange of neighbours in a ring: only the two neighbours of the late rank wait for it.
// ranks: 3 8
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int periodic = 1, mine[2] = {rank, rank}, halo[2];
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    for (int step = 0; step < 4; step++) {
        if (rank == step % size) usleep(100000);
        MPI_Neighbor_alltoall(mine, 1, MPI_INT, halo, 1, MPI_INT, ring);
    }
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}

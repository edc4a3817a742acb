// SPDX-License-Identifier: BSD-3-Clause
// The ranks that are not neighbours of the late rank have exchanged data, freed the communicator and reached
// MPI_Finalize.
// ranks: 4 6
#include <unistd.h>
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int periodic = 1, mine[2] = {rank, rank}, halo[2];
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    if (rank == 1) usleep(500000);
    MPI_Neighbor_alltoall(mine, 1, MPI_INT, halo, 1, MPI_INT, ring);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}

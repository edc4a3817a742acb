// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 waits for a message before its exchange with the neighbours; rank 0 sends it after the exchange.
// ranks: 3 4
// expect: T01 ranks 0-1
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
    if (rank == 1) MPI_Recv(&halo[0], 1, MPI_INT, 0, 0, ring, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Neighbor_alltoall(mine, 1, MPI_INT, halo, 1, MPI_INT, ring);                // HERE 0
    if (rank == 0) MPI_Send(mine, 1, MPI_INT, 1, 0, ring);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 does not start the exchange with its neighbours and waits in the barrier for the ranks that wait for it.
// ranks: 3
// expect: T01 or T03 ranks 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int periodic = 1, mine = rank, halo[2];
    MPI_Comm ring;
    MPI_Request request;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    if (rank != 1) {
        MPI_Ineighbor_allgather(&mine, 1, MPI_INT, halo, 1, MPI_INT, ring, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0 2
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}

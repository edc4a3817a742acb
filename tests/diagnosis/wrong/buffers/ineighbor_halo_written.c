// SPDX-License-Identifier: BSD-3-Clause
// A halo cell that the neighbour sends is set to a boundary value during the operation.
// ranks: 2 3
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int periods = 1, halo[2] = {-1, -1};
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &ring);
    MPI_Request request;
    MPI_Ineighbor_allgather(&rank, 1, MPI_INT, halo, 1, MPI_INT, ring, &request);   // HERE 0
    if (rank == 0) halo[1] = 7;
    MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}

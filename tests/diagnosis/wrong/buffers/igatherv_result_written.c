// SPDX-License-Identifier: BSD-3-Clause
// The root clears a part of the receive buffer while the others still send to it.
// ranks: 2 3
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine[2] = {rank, rank}, all[16] = {0}, counts[4], displacements[4];
    for (int i = 0; i < size; i++) counts[i] = 2, displacements[i] = 4 * i;
    MPI_Request request;
    MPI_Igatherv(mine, 2, MPI_INT, all, counts, displacements, MPI_INT, 0, MPI_COMM_WORLD, &request);   // HERE 0
    if (rank == 0) all[4] = -1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Both ranks send first, which works only as long as MPI buffers small messages.
// ranks: 2
// expect: T01 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, y, other = 1 - rank;
    MPI_Send(&x, 1, MPI_INT, other, 0, MPI_COMM_WORLD);   // HERE 0-1
    MPI_Recv(&y, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

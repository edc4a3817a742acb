// SPDX-License-Identifier: BSD-3-Clause
// A blocking send of a rank to itself precedes its receive.
// ranks: 1 2
// expect: T01 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1, y;
    if (rank == 0) {
        MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);   // HERE 0
        MPI_Recv(&y, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

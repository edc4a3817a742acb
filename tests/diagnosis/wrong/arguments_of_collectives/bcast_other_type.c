// SPDX-License-Identifier: BSD-3-Clause
// The root broadcasts an int, the others receive a double.
// ranks: 2 4
// expect: T04 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 7;
    double where = 0;
    if (rank == 0) MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);   // HERE 0
    else MPI_Bcast(&where, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);          // HERE 1-last
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Each rank passes itself as the root.
// ranks: 2 4
// expect: T04 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x[4] = {0};
    MPI_Bcast(x, 4, MPI_DOUBLE, rank, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

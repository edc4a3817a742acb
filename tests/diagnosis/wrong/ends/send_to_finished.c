// SPDX-License-Identifier: BSD-3-Clause
// A large send to a rank that has finished without receiving.
// ranks: 2 3
// expect: T05 ranks 0
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 1 << 20;
    double* block = calloc(count, sizeof(double));
    if (rank == 0) MPI_Send(block, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);   // HERE 0
    MPI_Finalize();
    return 0;
}

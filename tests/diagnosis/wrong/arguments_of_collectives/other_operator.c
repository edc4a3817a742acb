// SPDX-License-Identifier: BSD-3-Clause
// One rank computes the maximum, the others the sum.
// ranks: 2 4
// expect: T04 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = rank, result;
    MPI_Allreduce(&x, &result, 1, MPI_DOUBLE, rank == 0 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// One rank reduces longs, the others doubles: the sizes are equal, but the sum is meaningless.
// ranks: 2 3
// expect: T04 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long n = 1, sum = 0;
    double x = 1, total = 0;
    if (rank == 0) MPI_Allreduce(&n, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);   // HERE 0
    else MPI_Allreduce(&x, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);         // HERE 1-last
    MPI_Finalize();
    return 0;
}

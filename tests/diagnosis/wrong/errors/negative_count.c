// SPDX-License-Identifier: BSD-3-Clause
// The count has overflowed and is negative.
// ranks: 2
// expect: MPI_ERR_COUNT one of all
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = 50000, count = (int)(unsigned)(n * (long)n);
    static double a[1];
    MPI_Bcast(a, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// One rank calls MPI_Allreduce with another count.
// ranks: 2 4
// expect: T04 ranks 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    float x[4] = {0}, sum[4];
    MPI_Allreduce(x, sum, rank == 1 ? 3 : 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

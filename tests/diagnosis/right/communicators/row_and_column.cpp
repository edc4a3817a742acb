// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 sums over its row first, the others over their column, without a circle: each sum waits for one that
// completes.
// ranks: 4
#include <mpi.h>

static double sum_over(double mine, MPI_Comm comm) {
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    return sum;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm row, column;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    if (rank == 0) sum_over(sum_over(1, row), column);
    else sum_over(sum_over(1, column), row);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();
    return 0;
}

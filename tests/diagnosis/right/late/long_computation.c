// SPDX-License-Identifier: BSD-3-Clause
// One rank computes for a second without any MPI call; the others wait in a reduction.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = rank, sum = 0, start = MPI_Wtime();
    if (rank == 0)
        while (MPI_Wtime() - start < 1) x = x * 0.999 + 1;
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

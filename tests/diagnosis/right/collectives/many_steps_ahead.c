// SPDX-License-Identifier: BSD-3-Clause
// One rank sends its part of twenty reductions without waiting; the root calls them later.
// ranks: 2 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = 1, sum;
    if (rank == 0) usleep(400000);
    for (int i = 0; i < 20; i++) MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

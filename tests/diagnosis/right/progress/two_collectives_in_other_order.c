// SPDX-License-Identifier: BSD-3-Clause
// Two nonblocking collectives are started in one order and completed in different orders.
// ranks: 2 4
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 1 << 16, mine = 1, sum = 0;
    double* block = calloc(count, sizeof(double));
    MPI_Request broadcast, reduction;
    MPI_Ibcast(block, count, MPI_DOUBLE, 0, MPI_COMM_WORLD, &broadcast);
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &reduction);
    MPI_Wait(rank % 2 ? &broadcast : &reduction, MPI_STATUS_IGNORE);
    MPI_Wait(rank % 2 ? &reduction : &broadcast, MPI_STATUS_IGNORE);
    free(block);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A sequence of collectives of all kinds, with random pauses of all ranks before each.
// ranks: 3 8
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine[64] = {0}, all[64], sum;
    srand(rank);
    for (int step = 0; step < 30; step++) {
        usleep(rand() % 40000);
        if (step % 6 == 0) MPI_Bcast(mine, 8, MPI_INT, step % size, MPI_COMM_WORLD);
        if (step % 6 == 1) MPI_Reduce(mine, &sum, 1, MPI_INT, MPI_SUM, step % size, MPI_COMM_WORLD);
        if (step % 6 == 2) MPI_Allgather(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
        if (step % 6 == 3) MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
        if (step % 6 == 4) MPI_Exscan(mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (step % 6 == 5) MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Before each collective another rank sleeps, and all others wait in it.
// ranks: 3 8
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = rank, all[8], sum, spread[8] = {0};
    for (int step = 0; step < 6; step++) {
        if (rank == step % size) usleep(200000);
        if (step == 0) MPI_Barrier(MPI_COMM_WORLD);
        if (step == 1) MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
        if (step == 2) MPI_Alltoall(spread, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
        if (step == 3) MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (step == 4) MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (step == 5) MPI_Reduce_scatter_block(spread, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

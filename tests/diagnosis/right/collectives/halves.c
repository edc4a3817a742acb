// SPDX-License-Identifier: BSD-3-Clause
// One half calls a hundred reductions on its own communicator while the other half waits in a barrier of all.
// ranks: 4 8
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = 1, sum;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &half);
    for (int i = 0; i < 100 && rank < size / 2; i++) {
        if (rank == 0) usleep(5000);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, half);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}

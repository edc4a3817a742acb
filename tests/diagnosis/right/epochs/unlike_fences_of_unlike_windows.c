// SPDX-License-Identifier: BSD-3-Clause
// Each window has another group of ranks and another number of fences.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int memory[2] = {0, 0}, x = 1;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Win all, mine;
    MPI_Win_create(&memory[0], sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &all);
    MPI_Win_create(&memory[1], sizeof(int), 1, MPI_INFO_NULL, half, &mine);
    MPI_Win_fence(0, all);
    for (int step = 0; step < 2 + 3 * (rank % 2); step++) {
        MPI_Win_fence(0, mine);
        if (rank < 2) MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, mine);
    }
    MPI_Win_fence(0, mine);
    MPI_Win_fence(0, all);
    MPI_Win_free(&mine);
    MPI_Win_free(&all);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}

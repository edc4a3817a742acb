// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 fences the first window twice, the others both windows once.
// ranks: 2 3
// expect: T03 ranks 0-1
// expect nodes: T03 or T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int memory[2] = {0, 0};
    MPI_Win first, second;
    MPI_Win_create(&memory[0], sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &first);
    MPI_Win_create(&memory[1], sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
    MPI_Win_fence(0, first);
    MPI_Win_fence(0, rank == 1 ? first : second);   // HERE 0-2
    MPI_Win_free(&first);
    MPI_Win_free(&second);
    MPI_Finalize();
    return 0;
}

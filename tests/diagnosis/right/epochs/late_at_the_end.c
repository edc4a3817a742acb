// SPDX-License-Identifier: BSD-3-Clause
// The others wait in MPI_Win_free for a rank that still fences a window on MPI_COMM_SELF.
// ranks: 2 3
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int memory[2] = {0, 0};
    MPI_Win own, all;
    MPI_Win_create(&memory[0], sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_SELF, &own);
    MPI_Win_create(&memory[1], sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &all);
    MPI_Win_fence(0, all);
    if (rank == 0) {
        for (int i = 0; i < 5; i++) {
            MPI_Win_fence(0, own);
            usleep(50000);
        }
    }
    MPI_Win_fence(0, all);
    MPI_Win_free(&all);
    MPI_Win_free(&own);
    MPI_Finalize();
    return 0;
}

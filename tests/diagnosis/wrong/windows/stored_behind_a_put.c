// SPDX-License-Identifier: BSD-3-Clause
// A rank clears a location to which another rank has put, in the same epoch.
// ranks: 2 3
// expect: warning T14 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = 7;
    memory[0] = 0;
    MPI_Win_fence(0, win);   // HERE 0
    if (rank == 1) {
        MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);   // HERE 1
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 200000000 && *(int volatile*)memory == 0; i++) {}
        memory[0] = -1;
    }
    MPI_Win_fence(0, win);   // HERE 0
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

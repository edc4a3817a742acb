// SPDX-License-Identifier: BSD-3-Clause
// A rank stores to a location to which another rank puts later in the same epoch.
// ranks: 2
// expect: warning T14 ranks 0-1
// one node: accesses before a put by a rank of another node are not known
// mpiexec: --check
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = 7;
    memory[0] = memory[1] = 0;
    MPI_Win_fence(0, win);   // HERE 0
    if (rank == 0) memory[0] = 5;
    if (rank == 1) {
        usleep(100000);
        MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);   // HERE 1
    }
    MPI_Win_fence(0, win);   // HERE 0
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

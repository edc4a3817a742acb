// SPDX-License-Identifier: BSD-3-Clause
// All ranks lock each other's windows in turn and hold the locks for random times.
// ranks: 2 4
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *memory, x = 1;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    srand(rank);
    for (int step = 0; step < 20; step++) {
        int target = rand() % size;
        MPI_Win_lock(step % 3 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, window);
        MPI_Accumulate(&x, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, window);
        usleep(rand() % 30000);
        MPI_Win_unlock(target, window);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// One rank comes late to each fence.
// ranks: 2 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *memory, x = rank;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int step = 0; step < 4; step++) {
        if (rank == step % size) usleep(100000);
        MPI_Win_fence(0, window);
        MPI_Put(&x, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Fence, lock and post-start epochs in turn on one window; each ends before the next one begins.
// ranks: 2 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Group world, other;
    int partner = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (rank < 2) MPI_Group_incl(world, 1, &partner, &other);

    int x = rank;
    for (int step = 0; step < 3; step++) {
        MPI_Win_fence(0, window);
        if (rank == 0) MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        if (rank == 1) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
            MPI_Put(&x, 1, MPI_INT, 0, 1, 1, MPI_INT, window);
            MPI_Win_unlock(0, window);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Win_start(other, 0, window);
            MPI_Put(&x, 1, MPI_INT, 1, 2, 1, MPI_INT, window);
            MPI_Win_complete(window);
        }
        if (rank == 1) {
            MPI_Win_post(other, 0, window);
            MPI_Win_wait(window);
        }
    }
    MPI_Win_free(&window);
    MPI_Group_free(&world);
    if (rank < 2) MPI_Group_free(&other);
    MPI_Finalize();
    return 0;
}

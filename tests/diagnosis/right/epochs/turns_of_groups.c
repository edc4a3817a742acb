// SPDX-License-Identifier: BSD-3-Clause
// In each step another rank is the target of all others; ranks without data also start an epoch.
// ranks: 2 3 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int step = 0; step < 3 * size; step++) {
        int target = step % size;
        MPI_Group others, one;
        MPI_Group_excl(world, 1, &target, &others);
        MPI_Group_incl(world, 1, &target, &one);
        if (rank == target) {
            MPI_Win_post(others, 0, window);
            MPI_Win_wait(window);
        } else {
            MPI_Win_start(one, 0, window);
            if (rank == (target + 1) % size) MPI_Put(&step, 1, MPI_INT, target, 0, 1, MPI_INT, window);
            MPI_Win_complete(window);
        }
        MPI_Group_free(&others);
        MPI_Group_free(&one);
    }
    MPI_Group_free(&world);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

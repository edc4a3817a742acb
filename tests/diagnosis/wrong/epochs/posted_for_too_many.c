// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 posts for ranks 1 and 2, and only rank 1 starts.
// ranks: 3 4
// expect: T01 ranks 0 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    int both[2] = {1, 2}, target = 0, x = 1;
    MPI_Group world, origins, targets;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, both, &origins);
    MPI_Group_incl(world, 1, &target, &targets);
    if (rank == 0) {
        MPI_Win_post(origins, 0, window);
        MPI_Win_wait(window);   // HERE 0
    }
    if (rank == 1) {
        MPI_Win_start(targets, 0, window);
        MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1-3
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

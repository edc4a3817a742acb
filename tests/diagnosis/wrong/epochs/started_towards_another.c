// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 has posted for rank 0, which starts for rank 2.
// ranks: 3
// expect: T01 ranks 0 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    int target = 2, origin = 0, x = 1;
    MPI_Group world, targets, origins;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &target, &targets);
    MPI_Group_incl(world, 1, &origin, &origins);
    if (rank == 0) {
        MPI_Win_start(targets, 0, window);
        MPI_Put(&x, 1, MPI_INT, 2, 0, 1, MPI_INT, window);   // HERE 0
        MPI_Win_complete(window);
    }
    if (rank == 1) {
        MPI_Win_post(origins, 0, window);
        MPI_Win_wait(window);   // HERE 1
    }
    MPI_Win_free(&window);   // HERE 2
    MPI_Finalize();
    return 0;
}

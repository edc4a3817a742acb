// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 accesses in the first step only, and rank 1 posts for that step only.
// ranks: 2
// expect: warning T15 ranks 0
// says: 3 epochs towards rank 1
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

    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            MPI_Win_start(other, 0, window);   // HERE 0
            if (step == 0) MPI_Put(&step, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
            MPI_Win_complete(window);
        } else if (step == 0) {
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

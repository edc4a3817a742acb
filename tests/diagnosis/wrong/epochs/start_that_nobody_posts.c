// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 starts an access epoch at rank 1 without any operation; rank 1 does not post.
// ranks: 2 3
// expect: warning T15 ranks 0
// says: towards rank 1
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

    if (rank == 0) {
        MPI_Win_start(other, 0, window);   // HERE 0
        MPI_Win_complete(window);
    }
    MPI_Win_free(&window);
    MPI_Group_free(&world);
    if (rank < 2) MPI_Group_free(&other);
    MPI_Finalize();
    return 0;
}

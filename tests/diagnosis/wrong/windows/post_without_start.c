// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 posts for rank 1 and waits for the end of an access epoch that never begins.
// ranks: 2 3
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int origin = 1, *memory;
    MPI_Group world, other;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &origin, &other);
    if (rank == 0) {
        MPI_Win_post(other, 0, window);
        MPI_Win_wait(window);   // HERE 0
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

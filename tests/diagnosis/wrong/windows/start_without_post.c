// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 starts an access epoch at rank 1, which never posts.
// ranks: 2
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 5, target = 1, *memory;
    MPI_Group world, other;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &target, &other);
    if (rank == 0) {
        MPI_Win_start(other, 0, window);                     // HERE 0
        MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, window);   // HERE 0
        MPI_Win_complete(window);                            // HERE 0
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

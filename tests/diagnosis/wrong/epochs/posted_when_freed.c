// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 posts and never calls MPI_Win_wait.
// ranks: 2
// expect: MPI_ERR_RMA_SYNC ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (rank == 0) MPI_Win_post(world, 0, window);
    MPI_Win_free(&window);   // HERE 0
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Post-start epochs with an empty group, and one of a rank with itself.
// ranks: 1 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    MPI_Win_start(MPI_GROUP_EMPTY, 0, window);
    MPI_Win_complete(window);
    MPI_Win_post(MPI_GROUP_EMPTY, 0, window);
    MPI_Win_wait(window);
    MPI_Group world, self;
    int x = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank, &self);
    MPI_Win_post(self, 0, window);
    MPI_Win_start(self, 0, window);
    MPI_Put(&x, 1, MPI_INT, rank, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    MPI_Group_free(&self);
    MPI_Group_free(&world);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

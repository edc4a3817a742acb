// SPDX-License-Identifier: BSD-3-Clause
// The target polls for the end of its epoch by MPI_Win_test; the origin asserts MPI_MODE_NOCHECK because the target has
// posted.
// ranks: 2
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

    int x = 3, done = 0;
    if (rank == 1) MPI_Win_post(other, MPI_MODE_NOCHECK, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_start(other, MPI_MODE_NOCHECK, window);
        MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
    } else {
        while (!done) MPI_Win_test(window, &done);
    }
    MPI_Win_free(&window);
    MPI_Group_free(&world);
    if (rank < 2) MPI_Group_free(&other);
    MPI_Finalize();
    return 0;
}

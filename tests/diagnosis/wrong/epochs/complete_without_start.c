// SPDX-License-Identifier: BSD-3-Clause
// MPI_Win_complete and MPI_Win_wait are interchanged.
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

    MPI_Group world, other;
    int partner = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &partner, &other);
    if (rank == 0) {
        MPI_Win_post(other, 0, window);
        MPI_Win_complete(window);   // HERE 0
    } else {
        MPI_Win_start(other, 0, window);
        MPI_Win_complete(window);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

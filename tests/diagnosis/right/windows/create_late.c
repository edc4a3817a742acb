// SPDX-License-Identifier: BSD-3-Clause
// One rank comes late to each function that creates a window, and to freeing it.
// ranks: 2 3
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = 0, *memory;
    MPI_Win windows[3];
    for (int i = 0; i < 3; i++) {
        if (rank == i % 2) usleep(150000);
        if (i == 0) MPI_Win_create(&mine, sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[i]);
        if (i == 1) MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &windows[i]);
        if (i == 2) MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &windows[i]);
    }
    if (rank == 1) usleep(150000);
    for (int i = 0; i < 3; i++) MPI_Win_free(&windows[i]);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// One lock-all epoch from the creation to the end, with flushes; some ranks put nothing.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);

    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    for (int step = 0; step < 5; step++) {
        if (rank == 0) {
            MPI_Put(&step, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
            MPI_Win_flush(1, window);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

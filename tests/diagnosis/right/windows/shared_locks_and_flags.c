// SPDX-License-Identifier: BSD-3-Clause
// Operations of two ranks on the same location, under shared locks, are ordered by a flag.
// ranks: 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = 40 + rank, flag = 0, one = 1;
    for (int i = 0; i < 16; i++) memory[i] = 0;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    /* A flag that is fetched, */
    if (rank == 0) {
        MPI_Put(&x, 1, MPI_INT, 2, 4, 1, MPI_INT, win);
        MPI_Win_flush(2, win);
        MPI_Accumulate(&one, 1, MPI_INT, 2, 5, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(2, win);
    }
    if (rank == 1) {
        while (!flag) {
            MPI_Fetch_and_op(NULL, &flag, MPI_INT, 2, 5, MPI_NO_OP, win);
            MPI_Win_flush(2, win);
        }
        MPI_Put(&x, 1, MPI_INT, 2, 4, 1, MPI_INT, win);
    }
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    /* and one in a rank's own memory, where it comes without a call. */
    if (rank == 0) {
        MPI_Put(&x, 1, MPI_INT, 2, 6, 1, MPI_INT, win);
        MPI_Win_flush(2, win);
        MPI_Accumulate(&one, 1, MPI_INT, 1, 7, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_flush(1, win);
    }
    if (rank == 1) {
        double const began = MPI_Wtime();
        while (((int volatile*)memory)[7] == 0 && MPI_Wtime() - began < 0.5) {}
        MPI_Put(&x, 1, MPI_INT, 2, 6, 1, MPI_INT, win);
    }
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    int const wrong = rank == 2 && memory[4] != 41;
    MPI_Win_free(&win);
    if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}

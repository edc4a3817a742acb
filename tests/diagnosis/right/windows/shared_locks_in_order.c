// SPDX-License-Identifier: BSD-3-Clause
// Operations of two ranks on the same location, under shared locks, with different kinds of synchronization between
// them.
// ranks: 3 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = 40 + rank, y = -1, none = 0, wrong = 0;
    MPI_Comm pair;
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &pair);
    for (int i = 0; i < 16; i++) memory[i] = 0;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    /* A barrier of all, */
    if (rank == 0) MPI_Put(&x, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Get(&y, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
    MPI_Win_flush_all(win);
    wrong += rank == 1 && y != 40;
    MPI_Barrier(MPI_COMM_WORLD);
    /* a message, */
    if (rank == 1) MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < 2) MPI_Put(&x, 1, MPI_INT, 2, 1, 1, MPI_INT, win);
    MPI_Win_flush_all(win);
    if (rank == 0) MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    /* one that was begun before the last barrier, */
    if (rank == 1) MPI_Irecv(&none, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank < 2) MPI_Put(&x, 1, MPI_INT, 2, 2, 1, MPI_INT, win);
    MPI_Win_flush_all(win);
    if (rank == 0) MPI_Send(&none, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    /* a barrier of the two; accumulates may meet. */
    if (rank == 0) MPI_Put(&x, 1, MPI_INT, 2, 3, 1, MPI_INT, win);
    MPI_Win_flush_all(win);
    if (rank < 2) MPI_Barrier(pair);
    if (rank == 1) MPI_Put(&x, 1, MPI_INT, 2, 3, 1, MPI_INT, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Accumulate(&x, 1, MPI_INT, 2, 8, 1, MPI_INT, MPI_SUM, win);
    MPI_Put(&x, 1, MPI_INT, 2, 9 + rank, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    /* exclusive locks. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
        MPI_Put(&x, 1, MPI_INT, 2, 15, 1, MPI_INT, win);
        MPI_Win_unlock(2, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2) {
        MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
        wrong += memory[1] != 41 || memory[2] != 41 || memory[3] != 41;
        MPI_Win_unlock(2, win);
    }
    MPI_Comm_free(&pair);
    if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Origin buffers change and results are used after each kind of completion; buffers are read while they are put, gaps
// are written, types are freed early, and several unused results are fetched into one location.
// ranks: 2 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int size, x = rank, y = -1, wrong = 0, one = 1, ignored, a[4][4] = {{0}}, twice = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < 16; i++) memory[i] = 0;
    MPI_Win_fence(0, win);
    MPI_Put(&x, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Put(&x, 1, MPI_INT, next, 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    x = 100 + rank;
    MPI_Get(&y, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    wrong += y != rank || memory[1] != previous;
    MPI_Win_lock_all(0, win);
    MPI_Put(&x, 1, MPI_INT, next, 2, 1, MPI_INT, win);
    MPI_Win_flush_local(next, win);
    x = 0;
    for (int i = 0; i < 3; i++) MPI_Fetch_and_op(&one, &ignored, MPI_INT, 0, 8, MPI_SUM, win);
    MPI_Win_flush(0, win);
    ignored = 5;
    MPI_Win_flush_all(win);
    MPI_Datatype column;
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Request requests[2];
    MPI_Rput(&a[0][1], 1, column, rank, 4, 4, MPI_INT, win, &requests[0]);
    for (int i = 0; i < 4; i++) a[i][0] = a[i][2] = 9;
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_flush_all(win);
    MPI_Rget(&a[0][3], 1, column, rank, 4, 4, MPI_INT, win, &requests[1]);
    MPI_Type_free(&column);
    MPI_Win_flush(rank, win);
    for (int i = 0; i < 4; i++) wrong += a[i][3] != 0;
    a[0][3] = a[0][1] = 1;
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    wrong += a[0][3] != 1;
    MPI_Rget_accumulate(&one, 1, MPI_INT, &twice, 1, MPI_INT, rank, 3, 1, MPI_INT, MPI_SUM, win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    one = twice + 1;
    MPI_Compare_and_swap(&one, &one, &y, MPI_INT, rank, 3, win);
    MPI_Win_unlock_all(win);
    wrong += twice != 0 || y != 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

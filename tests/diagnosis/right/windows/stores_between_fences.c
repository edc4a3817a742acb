// SPDX-License-Identifier: BSD-3-Clause
// A program stores to its part of a window beside the locations that others access, before and after the epoch of these
// accesses, and under locks; others accumulate, put in several ways, and with requests.
// ranks: 2 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int size, x = rank, y, wrong = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Datatype second;
    MPI_Request request;
    MPI_Type_vector(2, 1, 2, MPI_INT, &second);
    MPI_Type_commit(&second);
    for (int i = 0; i < 16; i++) memory[i] = 0;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int step = 0; step < 3; step++) {
        memory[15] = step; /* next to what comes */
        x = 10 * step + rank;
        MPI_Put(&x, 1, MPI_INT, next, 0, 1, MPI_INT, win);
        MPI_Get(&y, 1, MPI_INT, next, 1, 1, MPI_INT, win);
        MPI_Accumulate(&x, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_fence(0, win);
        wrong += memory[0] != 10 * step + previous || y != (step == 0 ? 0 : step + 100);
        memory[0] = memory[2] = -1; /* in an epoch without operations */
        memory[1] = step + 101;
        MPI_Win_fence(0, win);
    }
    MPI_Get(&y, 1, MPI_INT, next, 5, 1, MPI_INT, win);
    int pair[2] = {rank, rank};
    MPI_Put(pair, 2, MPI_INT, next, 4, 1, second, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    wrong += memory[4] != previous || memory[6] != previous;
    memory[5] = memory[6] = 3;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    MPI_Put(&x, 1, MPI_INT, next, 7, 1, MPI_INT, win);
    MPI_Rput(&x, 1, MPI_INT, next, 8, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(next, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memory[7]++;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Get(&y, 1, MPI_INT, next, 7, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Type_free(&second);
    if (wrong) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Targets compute, without MPI calls, until they see in their own memory that the origin has finished: the origin's
 * operations make progress meanwhile, on any node and with any access method. */
// ranks: 2 3 4 5
// run by_owner: 2 3 TUTTI_ARENA=no TUTTI_CMA=no TUTTI_XPMEM=no
#include "../check.h"

enum { numbers = 40000 };

static long long memory[numbers];   /* in no arena */

static void origin(MPI_Win window, int target) {
    static long long buffer[numbers];
    long long one = 1, old = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Get(&old, 1, MPI_LONG_LONG, target, 7, 1, MPI_LONG_LONG, window);
    MPI_Win_flush(target, window);
    CHECK(old == 7 + target, "got %lld", old);
    for (int i = 0; i < numbers; ++i) buffer[i] = i + 1;
    MPI_Put(buffer, numbers - 1, MPI_LONG_LONG, target, 1, numbers - 1, MPI_LONG_LONG, window);
    MPI_Win_flush(target, window);
    MPI_Fetch_and_op(&one, &old, MPI_LONG_LONG, target, 9, MPI_SUM, window);
    MPI_Win_flush(target, window);
    CHECK(old == 9, "fetched %lld", old);
    MPI_Get(buffer, numbers, MPI_LONG_LONG, target, 0, numbers, MPI_LONG_LONG, window);
    MPI_Win_unlock(target, window);
    for (int i = 1; i < numbers; ++i) CHECK(buffer[i] == i + (i == 9), "number %d is %lld", i, buffer[i]);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Accumulate(&one, 1, MPI_LONG_LONG, target, 0, 1, MPI_LONG_LONG, MPI_REPLACE, window);
    MPI_Win_unlock(target, window);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < numbers; ++i) memory[i] = i + rank;
    MPI_Win window;
    MPI_Win_create(memory, sizeof memory, sizeof memory[0], MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int target = 1; target < size; ++target) origin(window, target);
    else
        while (*(volatile long long *)memory == 0) {}
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_PROC_NULL as a target: each operation is allowed, has no effect, and needs neither a datatype nor a lock. */
// ranks: 1 2
#include "tests/ranks/check.h"

static long memory[2] = {3, 4}, here = 1, old = 2, other = 5;

static void operations(MPI_Win win) {
    int const none = MPI_PROC_NULL;
    MPI_Request requests[4];
    MPI_Put(&here, 1, MPI_LONG, none, 0, 1, MPI_LONG, win);
    MPI_Put(NULL, 0, MPI_DATATYPE_NULL, none, 0, 0, MPI_DATATYPE_NULL, win);
    MPI_Get(&here, 1, MPI_LONG, none, 1000, 1, MPI_LONG, win);
    MPI_Accumulate(&here, 1, MPI_LONG, none, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Get_accumulate(&here, 1, MPI_LONG, &old, 1, MPI_LONG, none, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&here, &old, MPI_LONG, none, 0, MPI_SUM, win);
    MPI_Compare_and_swap(&here, &other, &old, MPI_LONG, none, 0, win);
    MPI_Rput(&here, 1, MPI_LONG, none, 0, 1, MPI_LONG, win, &requests[0]);
    MPI_Rget(&here, 1, MPI_LONG, none, 0, 1, MPI_LONG, win, &requests[1]);
    MPI_Raccumulate(&here, 1, MPI_LONG, none, 0, 1, MPI_LONG, MPI_SUM, win, &requests[2]);
    MPI_Rget_accumulate(&here, 1, MPI_LONG, &old, 1, MPI_LONG, none, 0, 1, MPI_LONG, MPI_SUM, win, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Win win;
    MPI_Group empty = MPI_GROUP_EMPTY;
    MPI_Init(&argc, &argv);
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    operations(win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_post(empty, 0, win);
    MPI_Win_start(empty, 0, win);
    operations(win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win);
    operations(win);
    MPI_Win_flush(MPI_PROC_NULL, win);
    MPI_Win_flush_local(MPI_PROC_NULL, win);
    MPI_Win_unlock(MPI_PROC_NULL, win);
    MPI_Win_lock_all(0, win);
    operations(win);
    MPI_Win_unlock_all(win);
    CHECK(memory[0] == 3 && memory[1] == 4, "%ld %ld", memory[0], memory[1]);
    CHECK(here == 1 && old == 2, "%ld %ld", here, old);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

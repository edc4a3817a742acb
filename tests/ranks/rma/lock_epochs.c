// SPDX-License-Identifier: BSD-3-Clause
// The epochs that may overlap with a lock: never an access epoch with the same target; an exposure epoch, or the hint
// no_locks, does not prevent a lock.
// ranks: 1 2
#include "tests/ranks/check.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, memory = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Info promise;
    MPI_Info_create(&promise);
    MPI_Info_set(promise, "no_locks", "true");
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Win win;
    MPI_Win_create(&memory, sizeof memory, sizeof memory, promise, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    MPI_Win_complete(win);
    FAILS(MPI_SUCCESS, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    if (size > 1) {
        FAILS(MPI_SUCCESS, MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
        MPI_Win_unlock(1, win);
    }
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    MPI_Win_unlock(0, win);
    FAILS(MPI_SUCCESS, MPI_Win_lock_all(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    MPI_Win_unlock_all(win);
    MPI_Win_wait(win);
    MPI_Group_free(&all);
    MPI_Info_free(&promise);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Operations that a window rejects access nothing, so they do not conflict.
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, errors = 0;
    double *memory, number = 1, old = 0;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof number, sizeof number, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - rank, 0, win);
    errors += MPI_Fetch_and_op(&number, &old, MPI_DOUBLE, 1 - rank, 0, MPI_BAND, win) != MPI_SUCCESS;
    errors += MPI_Compare_and_swap(&number, &number, &old, MPI_DOUBLE, 1 - rank, 0, win) != MPI_SUCCESS;
    errors += MPI_Accumulate(&number, 1, MPI_DOUBLE, 1 - rank, 0, 1, MPI_DOUBLE, MPI_BXOR, win) != MPI_SUCCESS;
    MPI_Put(&number, 1, MPI_DOUBLE, 1 - rank, 0, 1, MPI_DOUBLE, win);
    MPI_Win_unlock(1 - rank, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return errors == 3 ? 0 : 1;
}

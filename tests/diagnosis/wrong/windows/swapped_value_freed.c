// SPDX-License-Identifier: BSD-3-Clause
// The result of a get-and-accumulate is freed before the flush.
// ranks: 2
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x[8] = {1, 2, 3};
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        int* result = malloc(8 * sizeof *result);
        MPI_Get_accumulate(x, 8, MPI_INT, result, 8, MPI_INT, 1, 0, 8, MPI_INT, MPI_REPLACE, win);   // HERE 0
        free(result);
        MPI_Win_flush(1, win);   // HERE 0
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

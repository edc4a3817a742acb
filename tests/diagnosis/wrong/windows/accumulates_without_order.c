// SPDX-License-Identifier: BSD-3-Clause
// One origin replaces and multiplies in a window whose hint accumulate_ordering disables their order.
// ranks: 2
// expect: warning T14 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &memory, &win);
    MPI_Info_free(&info);
    int x = 2;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, MPI_REPLACE, win);   // HERE 0-1
    MPI_Accumulate(&x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, MPI_PROD, win);      // HERE 0-1
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

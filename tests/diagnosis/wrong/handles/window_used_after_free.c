// SPDX-License-Identifier: BSD-3-Clause
// A copy of a window handle is used after the window was freed.
// ranks: 2
// expect: T13 one of 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int memory = 0;
    MPI_Win window, copy;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    copy = window;
    MPI_Win_free(&window);    // HERE 0-1
    MPI_Win_fence(0, copy);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

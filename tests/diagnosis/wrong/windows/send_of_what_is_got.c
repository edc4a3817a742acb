// SPDX-License-Identifier: BSD-3-Clause
// A message is sent from the origin buffer of a get that is not complete.
// ranks: 2
// expect: T11 ranks 1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int x = 0;
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Get(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);   // HERE 1
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);   // HERE 1
    } else {
        MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

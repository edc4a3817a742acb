// SPDX-License-Identifier: BSD-3-Clause
// A column is changed before the request of its MPI_Rput is complete.
// ranks: 2
// expect: T10 ranks 1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* memory;
    MPI_Win win;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    int a[4][4] = {{0}};
    MPI_Datatype column;
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Request request;
        MPI_Rput(&a[0][2], 1, column, 0, 0, 4, MPI_INT, win, &request);   // HERE 1
        a[3][2] = 1;
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 1
    }
    MPI_Win_unlock_all(win);
    MPI_Type_free(&column);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

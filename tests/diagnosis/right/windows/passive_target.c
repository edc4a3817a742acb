// SPDX-License-Identifier: BSD-3-Clause
// The target waits in a receive while the others access its memory; the last message ends its wait.
// ranks: 2 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *memory, x = 0, old, one = 1;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    if (rank == 0) {
        for (int i = 1; i < size; i++) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Win_lock_all(0, window);
        for (int i = 0; i < 10; i++) {
            MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, window);
            MPI_Win_flush(0, window);
            usleep(20000);
        }
        MPI_Win_unlock_all(window);
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

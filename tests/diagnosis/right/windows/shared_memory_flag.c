// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 waits in plain loads of shared memory, and rank 1 waits for a message that rank 0 sends afterwards.
// ranks: 3
// one node: shared memory
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *memory, *flag, unit, x = 0;
    MPI_Aint length;
    MPI_Win window;
    MPI_Win_allocate_shared(rank == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_shared_query(window, 0, &length, &unit, &flag);
    if (rank == 0) *flag = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        while (!*(int volatile*)flag) usleep(1000);
        MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        usleep(400000);
        *(int volatile*)flag = 1;
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

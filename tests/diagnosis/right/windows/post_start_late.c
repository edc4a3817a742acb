// SPDX-License-Identifier: BSD-3-Clause
// The target posts 0.3 s late; then the origin completes 0.3 s late.
// ranks: 2
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int other = 1 - rank, x = 1, *memory;
    MPI_Group world, partner;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &partner);
    if (rank == 0) {
        usleep(300000);
        MPI_Win_post(partner, 0, window);
        MPI_Win_wait(window);
    } else {
        MPI_Win_start(partner, 0, window);
        MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        usleep(300000);
        MPI_Win_complete(window);
    }
    MPI_Group_free(&partner);
    MPI_Group_free(&world);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

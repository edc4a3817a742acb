// SPDX-License-Identifier: BSD-3-Clause
// Both ranks wait for the end of their exposure epoch before they begin the access epoch that the other one waits for.
// ranks: 2
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int other = 1 - rank, *memory;
    MPI_Group world, partner;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &partner);
    MPI_Win_post(partner, 0, window);
    MPI_Win_wait(window);   // HERE 0-1
    MPI_Win_start(partner, 0, window);
    MPI_Put(&rank, 1, MPI_INT, other, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

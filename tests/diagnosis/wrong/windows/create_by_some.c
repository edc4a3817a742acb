// SPDX-License-Identifier: BSD-3-Clause
// Creating a window is collective, also for ranks without memory; here some ranks do not call it.
// ranks: 2 3
// expect: T01 or T03 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    MPI_Win window;
    if (rank == 0) {
        MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);   // HERE 0
        for (int i = 1; i < 2; i++) MPI_Send(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
        MPI_Win_free(&window);
    }
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

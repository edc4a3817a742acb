/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: MPI_Put is called outside an epoch. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, *number;
    const int answer = 42;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *number, sizeof *number, MPI_INFO_NULL, MPI_COMM_WORLD, &number, &window);
    if (rank == 0)
        MPI_Put(&answer, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

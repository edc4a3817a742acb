/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: rank 1 never waits for the receive that it has started. */
#include <mpi.h>

int main(int argc, char **argv)
{
    static int theirs;
    int rank, mine = 42;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Send(&mine, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Irecv(&theirs, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Two groups use an intercommunicator: messages, a broadcast from one group, a reduction of both; one rank is late.
// ranks: 2 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int half = size / 2, low = rank < half, x = rank, sum;
    MPI_Comm own, both;
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &own);
    if (rank == 0) usleep(300000);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, low ? half : 0, 0, &both);
    if (low) MPI_Send(&x, 1, MPI_INT, rank, 0, both);
    else MPI_Recv(&x, 1, MPI_INT, rank - half, 0, both, MPI_STATUS_IGNORE);
    if (rank == 0) usleep(300000);
    MPI_Bcast(&x, 1, MPI_INT, !low ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the ranks call collectives on two communicators in opposite order. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, number = 1;
    MPI_Comm steering, data;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &steering);
    MPI_Comm_dup(MPI_COMM_WORLD, &data);
    MPI_Comm_set_name(steering, "steering");
    MPI_Comm_set_name(data, "data");
    if (rank == 0) {
        MPI_Barrier(steering);
        MPI_Bcast(&number, 1, MPI_INT, 0, data);
    } else {
        MPI_Bcast(&number, 1, MPI_INT, 0, data);
        MPI_Barrier(steering);
    }
    MPI_Comm_free(&data);
    MPI_Comm_free(&steering);
    MPI_Finalize();
    return 0;
}

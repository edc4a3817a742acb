// SPDX-License-Identifier: BSD-3-Clause
// Two senders use separate communicators, as libraries do.
// ranks: 3
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, from_first = 0, from_second = 0;
    MPI_Comm library;
    MPI_Comm_dup(MPI_COMM_WORLD, &library);
    if (rank == 0) {
        usleep(300000);
        MPI_Recv(&from_second, 1, MPI_INT, MPI_ANY_SOURCE, 0, library, MPI_STATUS_IGNORE);
        MPI_Recv(&from_first, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (from_second != 2 || from_first != 1) MPI_Abort(MPI_COMM_WORLD, 1);
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, 0, rank == 1 ? MPI_COMM_WORLD : library);
    }
    MPI_Comm_free(&library);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Ranks poll for messages that are sent late.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request request;
    int done = 0, x = 0;
    if (rank == 0) {
        double const start = MPI_Wtime();
        while (MPI_Wtime() < start + 2.5) {}
        for (int i = 1; i < size; ++i) MPI_Send(&i, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    } else {
        while (!done) MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

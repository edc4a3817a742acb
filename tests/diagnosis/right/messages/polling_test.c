// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 polls by MPI_Test for a second; rank 1 waits for the message that rank 0 sends afterwards.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0, flag = 0, never;
    MPI_Request request;
    if (rank == 0) {
        double start = MPI_Wtime();
        MPI_Irecv(&never, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &request);
        while (MPI_Wtime() - start < 1) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

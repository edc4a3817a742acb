// SPDX-License-Identifier: BSD-3-Clause
// Receives into adjacent parts of one array, the last one with a shorter message.
// ranks: 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int all[21];
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(all, 10, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(all + 10, 11, MPI_INT, 2, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 20; i++)
            if (all[i] != i) MPI_Abort(MPI_COMM_WORLD, 3);
    } else {
        for (int i = 0; i < 10; i++) all[i] = 10 * (rank - 1) + i;
        MPI_Send(all, 10, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

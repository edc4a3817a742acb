// SPDX-License-Identifier: BSD-3-Clause
// Several sends may read the same memory at the same time (MPI 2.2 and later).
// ranks: 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[100] = {0};
    MPI_Request requests[3];
    if (rank == 0) {
        for (int to = 1; to < 4; to++) MPI_Isend(x, 100, MPI_INT, to, 0, MPI_COMM_WORLD, &requests[to - 1]);
        MPI_Ssend(x + 50, 10, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Recv(x, 100, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Recv(x, 10, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

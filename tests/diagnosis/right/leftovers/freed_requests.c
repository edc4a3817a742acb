// SPDX-License-Identifier: BSD-3-Clause
// Requests are freed before they are complete, and complete later.
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static int x[20], y;
    MPI_Request request;
    for (int i = 0; i < 20; i++) {
        if (rank == 0) {
            MPI_Isend(&x[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
        if (rank == 1) MPI_Recv(&y, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A receive is cancelled and completed.
// ranks: 1 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static int x;
    MPI_Request request;
    MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    (void)rank;
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A datatype and a communicator are freed while operations use them.
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[2] = {1, 2}, y[2] = {0};
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Request requests[2];
    MPI_Irecv(y, 1, pair, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(x, 1, pair, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&pair);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (y[1] != 2) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}

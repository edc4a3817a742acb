// SPDX-License-Identifier: BSD-3-Clause
// The sender counts its tags from 0, the receiver from 1.
// ranks: 2
// expect: T02 ranks 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int values[4] = {0, 1, 2, 3};
    MPI_Request requests[4];
    for (int i = 0; i < 4; i++) {
        if (rank == 0) MPI_Isend(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
        if (rank == 1) MPI_Irecv(&values[i], 1, MPI_INT, 0, i + 1, MPI_COMM_WORLD, &requests[i]);
    }
    if (rank < 2) MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

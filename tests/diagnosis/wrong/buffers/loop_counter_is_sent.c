// SPDX-License-Identifier: BSD-3-Clause
// A nonblocking send has the loop counter as its buffer, and the loop changes it.
// ranks: 2
// expect: T10 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int values[4];
    MPI_Request requests[4];
    if (rank == 0) {
        int i;
        for (i = 0; i < 4; i++) MPI_Isend(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[i]);   // HERE 0
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);                                           // HERE 0
    } else {
        for (int i = 0; i < 4; i++) MPI_Recv(&values[i], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

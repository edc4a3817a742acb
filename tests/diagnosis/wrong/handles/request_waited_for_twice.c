// SPDX-License-Identifier: BSD-3-Clause
// A copy of a completed request is waited for again.
// ranks: 2
// expect: T13 one of 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, y;
    MPI_Request requests[2], copy;
    MPI_Irecv(&y, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    copy = requests[0];
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);   // HERE 0-1
    MPI_Wait(&copy, MPI_STATUS_IGNORE);              // HERE 0-1
    MPI_Finalize();
    return 0;
}

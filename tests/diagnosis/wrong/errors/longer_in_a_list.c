// SPDX-License-Identifier: BSD-3-Clause
// A message is longer than its receive, which is found by a call that completes several requests.
// ranks: 2
// expect: MPI_ERR_IN_STATUS or MPI_ERR_TRUNCATE ranks 1
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int a[10] = {0}, b[10] = {0};
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Isend(a, 10, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(b, 10, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
    } else {
        MPI_Irecv(a, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(b, 10, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The ranks start nonblocking barriers on two communicators in opposite order, and wait for both.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm comms[2];
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 2; i++) MPI_Ibarrier(comms[(i + rank) % 2], &requests[i]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}

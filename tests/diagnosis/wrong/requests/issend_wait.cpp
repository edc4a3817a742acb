// SPDX-License-Identifier: BSD-3-Clause
// A nonblocking synchronous send completes only when it is received; both ranks wait for it before they receive.
// ranks: 2
// expect: T01 ranks 0-1
#include <mpi.h>

#include <array>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::array<MPI_Request, 2> requests;
    std::array<long, 2> values{};
    for (int i = 0; i < 2; i++) MPI_Issend(&values[i], 1, MPI_LONG, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);   // HERE 0-1
    for (int i = 0; i < 2; i++) MPI_Recv(&values[i], 1, MPI_LONG, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

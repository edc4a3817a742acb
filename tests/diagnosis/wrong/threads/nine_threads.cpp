// SPDX-License-Identifier: BSD-3-Clause
// More threads of a rank wait than mpiexec examines.
// ranks: 2
// expect: T01 ranks 0-1
// missed: waits of more than eight threads per rank are not examined
#include <mpi.h>

#include <thread>
#include <vector>

static void receive(int from, int tag) {
    int x;
    MPI_Recv(&x, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
}

int main(int argc, char** argv) {
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<std::thread> others;
    for (int tag = 0; tag < 8; tag++) others.emplace_back(receive, 1 - rank, tag);
    receive(1 - rank, 8);
    for (std::thread& one : others) one.join();
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Both threads of each rank receive, so no thread can send.
// ranks: 2
// whole: threads from a lambda in main, compiled by mpicxx
// says: in receive()
// expect: T01 ranks 0-1
#include <mpi.h>

#include <thread>

static void receive(int from, int tag) {
    int x;
    MPI_Recv(&x, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
}

int main(int argc, char** argv) {
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::thread other(receive, 1 - rank, 1);
    receive(1 - rank, 2);
    other.join();
    MPI_Finalize();
}

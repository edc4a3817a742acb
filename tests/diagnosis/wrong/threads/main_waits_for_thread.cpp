// SPDX-License-Identifier: BSD-3-Clause
// The main thread joins another one, which waits for a message that no rank sends.
// ranks: 2 3
// expect: T01 ranks 0-1
#include <mpi.h>

#include <thread>

int main(int argc, char** argv) {
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::thread receiver([rank] {
        int x;
        if (rank < 2) MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
    });
    receiver.join();
    MPI_Finalize();
    return 0;
}

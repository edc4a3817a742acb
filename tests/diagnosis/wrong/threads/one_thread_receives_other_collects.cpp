// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 receives in one thread and calls a barrier in the other; rank 1 also receives and does not call the barrier.
// ranks: 2
// expect: T01 or T03 ranks 0-1
#include <mpi.h>

#include <thread>

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        std::thread other([] { MPI_Barrier(MPI_COMM_WORLD); });              // HERE 0
        MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
        other.join();
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    }
    MPI_Finalize();
    return 0;
}

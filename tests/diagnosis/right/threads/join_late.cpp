// SPDX-License-Identifier: BSD-3-Clause
// The main threads join other threads, which wait in MPI until rank 0 calls after 0.5 s.
// ranks: 2 4
#include <mpi.h>

#include <chrono>
#include <thread>

int main(int argc, char** argv) {
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::thread other([rank] {
        if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
        MPI_Barrier(MPI_COMM_WORLD);
    });
    other.join();
    MPI_Finalize();
    return 0;
}

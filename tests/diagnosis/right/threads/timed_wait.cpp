// SPDX-License-Identifier: BSD-3-Clause
// A thread waits for work that never arrives, stops waiting after 0.4 s, and sends.
// ranks: 1 2
#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::mutex mutex;
    std::condition_variable work;
    std::thread worker([&] {
        std::unique_lock lock(mutex);
        work.wait_for(lock, std::chrono::milliseconds(400), [] { return false; });
        MPI_Send(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    });
    MPI_Recv(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    worker.join();
    MPI_Finalize();
    return 0;
}

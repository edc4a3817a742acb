// SPDX-License-Identifier: BSD-3-Clause
// A thread waits for work from the main thread, which provides it after 0.3 s; the other rank waits for the result.
// ranks: 2
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
    std::condition_variable changed;
    bool ready = false;
    std::thread worker([&] {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return ready; });
        if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    {
        std::lock_guard lock(mutex);
        ready = true;
    }
    changed.notify_one();
    worker.join();
    MPI_Finalize();
    return 0;
}

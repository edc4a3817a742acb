// SPDX-License-Identifier: BSD-3-Clause
// The main thread waits for a message that another thread of the same rank sends after 0.3 s.
// ranks: 1 2
#include <mpi.h>

#include <chrono>
#include <thread>

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::thread sender([&] {
        int y = 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        MPI_Send(&y, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    });
    MPI_Recv(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sender.join();
    MPI_Finalize();
    return 0;
}

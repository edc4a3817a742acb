// SPDX-License-Identifier: BSD-3-Clause
// The main threads of all ranks wait for each other in receives; second threads send the messages.
// ranks: 2 4
#include <mpi.h>

#include <chrono>
#include <thread>

int main(int argc, char** argv) {
    int rank, size, provided, x = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::thread sender([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        MPI_Ssend(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    });
    MPI_Recv(&x, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sender.join();
    MPI_Finalize();
    return 0;
}

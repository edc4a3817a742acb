// SPDX-License-Identifier: BSD-3-Clause
// Two threads of each rank exchange messages with two threads of the next rank, in an order given by random pauses.
// ranks: 2 3
#include <mpi.h>

#include <chrono>
#include <random>
#include <thread>

static void exchange(int rank, int size, int thread) {
    std::minstd_rand random(static_cast<unsigned>(2 * rank + thread + 1));
    for (int i = 0; i < 30; i++) {
        int x = 0;
        MPI_Request request;
        if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
        MPI_Irecv(&x, 1, MPI_INT, (rank + size - 1) % size, thread, MPI_COMM_WORLD, &request);
        if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
        MPI_Ssend(&rank, 1, MPI_INT, (rank + 1) % size, thread, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv) {
    int rank, size, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::thread other(exchange, rank, size, 1);
    exchange(rank, size, 0);
    other.join();
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A thread creates another one after 0.3 s and ends; the new thread sends after another 0.3 s.
// ranks: 1 2
#include <mpi.h>

#include <chrono>
#include <thread>

static void after_a_while() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::thread([rank] {
        after_a_while();
        std::thread([rank] {
            after_a_while();
            MPI_Send(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
        }).detach();
    }).detach();
    MPI_Recv(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

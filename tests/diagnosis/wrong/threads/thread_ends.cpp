// SPDX-License-Identifier: BSD-3-Clause
// The thread that could send ends after 0.3 s without sending.
// ranks: 1 2
// expect: T01 one of all
#include <mpi.h>

#include <chrono>
#include <thread>

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::thread([] { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }).detach();
    MPI_Recv(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE all
    MPI_Finalize();
    return 0;
}

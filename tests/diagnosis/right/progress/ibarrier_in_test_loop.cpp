// SPDX-License-Identifier: BSD-3-Clause
// A barrier completes while some ranks test it only from time to time.
// ranks: 2 4 8
#include <mpi.h>

#include <chrono>
#include <thread>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, done = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request request;
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank % 2 == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        while (!done) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}

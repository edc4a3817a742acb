// SPDX-License-Identifier: BSD-3-Clause
// With MPI_THREAD_SERIALIZED another thread calls MPI, while the main thread waits for it outside of MPI.
// ranks: 2
#include <mpi.h>

#include <chrono>
#include <thread>

int main(int argc, char** argv) {
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::thread([rank] {
        int x = rank;
        if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(400));
        MPI_Sendrecv_replace(&x, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }).join();
    MPI_Finalize();
    return 0;
}

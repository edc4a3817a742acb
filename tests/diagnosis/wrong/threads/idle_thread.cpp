// SPDX-License-Identifier: BSD-3-Clause
// The ranks wait for each other, and each has a thread that does not use MPI and waits for its end.
// ranks: 2
// expect: T01 ranks 0-1
#include <mpi.h>

#include <future>
#include <thread>

int main(int argc, char** argv) {
    int rank, x;
    std::promise<void> end;
    std::thread idle([future = end.get_future()]() mutable { future.wait(); });
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
    MPI_Finalize();
    end.set_value();
    idle.join();
    return 0;
}

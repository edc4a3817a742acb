// SPDX-License-Identifier: BSD-3-Clause
// Within a rank one thread waits for the other, outside of MPI or in a receive; the ranks alternate.
// ranks: 2
#include <mpi.h>

#include <chrono>
#include <future>
#include <thread>

int main(int argc, char** argv) {
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        std::promise<int> got;
        std::thread receiver([&] {
            int x;
            MPI_Recv(&x, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Ssend(&x, 1, MPI_INT, rank, 100, MPI_COMM_WORLD);
            got.set_value(x);
        });
        std::thread sender([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(rank == i % 2 ? 70 : 0));
            MPI_Ssend(&i, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
        });
        int y;
        MPI_Recv(&y, 1, MPI_INT, rank, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        got.get_future().wait();
        sender.join();
        receiver.join();
    }
    MPI_Finalize();
    return 0;
}

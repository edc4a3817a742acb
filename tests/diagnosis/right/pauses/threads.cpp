// SPDX-License-Identifier: BSD-3-Clause
// Two threads per rank exchange messages with the same threads of the other rank, with random pauses.
// ranks: 2
#include <mpi.h>

#include <chrono>
#include <random>
#include <thread>

static void talk(int rank, int tag) {
    std::minstd_rand random(2 * rank + tag + 1);
    int x = 0;
    for (int step = 0; step < 40; step++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 40));
        if ((rank + step + tag) % 2) MPI_Ssend(&x, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD);
        else MPI_Recv(&x, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv) {
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::thread other(talk, rank, 1);
    talk(rank, 0);
    other.join();
    MPI_Finalize();
    return 0;
}

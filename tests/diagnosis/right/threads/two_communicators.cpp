// SPDX-License-Identifier: BSD-3-Clause
// Two threads per rank call collectives on separate communicators; they are late in turn.
// ranks: 2 4
#include <mpi.h>

#include <chrono>
#include <thread>

static void meet(MPI_Comm comm, int late) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int step = 0; step < 4; step++) {
        if (step % 2 == late && rank == step / 2) std::this_thread::sleep_for(std::chrono::milliseconds(150));
        MPI_Barrier(comm);
    }
}

int main(int argc, char** argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm first, second;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    std::thread other(meet, second, 1);
    meet(first, 0);
    other.join();
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    MPI_Finalize();
    return 0;
}

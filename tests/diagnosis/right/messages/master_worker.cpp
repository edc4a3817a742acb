// SPDX-License-Identifier: BSD-3-Clause
// A master distributes work; its workers take different times and stop when the master sends an end message.
// ranks: 2 5
#include <mpi.h>

#include <chrono>
#include <thread>

static void master(int workers) {
    int task = 0, result;
    for (int busy = workers; busy > 0;) {
        MPI_Status status;
        MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        int next = task < 10 ? task++ : -1;
        busy -= next < 0;
        MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
    }
}

static void worker() {
    for (int task = 0; task >= 0;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(task % 3 * 30));
        MPI_Send(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) master(size - 1);
    else worker();
    MPI_Finalize();
    return 0;
}

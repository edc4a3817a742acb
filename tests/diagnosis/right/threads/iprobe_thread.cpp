// SPDX-License-Identifier: BSD-3-Clause
// A thread polls for requests and answers them; the main threads wait for the answers.
// ranks: 2 3
#include <mpi.h>

#include <chrono>
#include <thread>

int main(int argc, char** argv) {
    int rank, size, provided, x = 0, request = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::thread server([size] {
        for (int left = 1; left > 0;) {
            int found = 0, y;
            MPI_Status status;
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &found, &status);
            if (!found) continue;
            MPI_Recv(&y, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            MPI_Send(&y, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
            --left;
        }
    });
    MPI_Send(&request, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    server.join();
    MPI_Finalize();
    return 0;
}

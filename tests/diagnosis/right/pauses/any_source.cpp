// SPDX-License-Identifier: BSD-3-Clause
// All ranks send to all others and receive from any source, with random pauses; some wait by MPI_Waitany.
// may warn: T12
// ranks: 2 8
#include <mpi.h>

#include <chrono>
#include <random>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::minstd_rand random(rank + 1);
    std::vector<int> in(size);
    std::vector<MPI_Request> requests(size);
    for (int step = 0; step < 5; step++) {
        for (int i = 0; i < size; i++)
            MPI_Irecv(&in[i], 1, MPI_INT, rank % 2 ? i : MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < size; i++) {
            std::this_thread::sleep_for(std::chrono::milliseconds(random() % 30));
            MPI_Send(&rank, 1, MPI_INT, (rank + i) % size, step, MPI_COMM_WORLD);
        }
        for (int i = 0, index; i < size; i++) MPI_Waitany(size, requests.data(), &index, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

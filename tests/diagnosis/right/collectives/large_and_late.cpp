// SPDX-License-Identifier: BSD-3-Clause
// Collectives over megabytes, to each of which one rank comes late.
// ranks: 2 4
#include <mpi.h>

#include <chrono>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const count = 1 << 17;
    std::vector<double> mine(count), all(static_cast<std::size_t>(count) * size);
    for (int step = 0; step < 4; step++) {
        if (rank == step % size) std::this_thread::sleep_for(std::chrono::milliseconds(150));
        if (step == 0) MPI_Bcast(mine.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (step == 1) MPI_Allreduce(mine.data(), all.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (step == 2) MPI_Allgather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, MPI_COMM_WORLD);
        if (step == 3)
            MPI_Alltoall(all.data(), count / size, MPI_DOUBLE, mine.data(), count / size, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

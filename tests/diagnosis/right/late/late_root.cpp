// SPDX-License-Identifier: BSD-3-Clause
// The root comes late to its broadcast, scatter, gather and reduction.
// ranks: 2 4
#include <mpi.h>

#include <chrono>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, x = 1, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<int> all(size);
    auto const late = [&] {
        if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    };
    late();
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    late();
    MPI_Scatter(all.data(), 1, MPI_INT, &x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    late();
    MPI_Gather(&x, 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    late();
    MPI_Reduce(&x, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The receiver's loop ends one message too early, and the last large send waits for it.
// ranks: 2 3
// expect: T01 ranks 0-1
#include <mpi.h>

#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<double> block(1 << 20);
    for (int i = 0; i < 3 && rank == 0; i++) {
        MPI_Send(block.data(), 1 << 20, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);   // HERE 0
    }
    for (int i = 0; i < 2 && rank == 1; i++) {
        MPI_Recv(block.data(), 1 << 20, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1-2
    MPI_Finalize();
    return 0;
}

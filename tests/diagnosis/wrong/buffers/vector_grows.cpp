// SPDX-License-Identifier: BSD-3-Clause
// A vector that is being sent grows, which moves its elements.
// ranks: 2
// expect: T10 ranks 0
// mpiexec: --check
#include <mpi.h>

#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<double> field(50'000, 1.5);
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(field.data(), 50'000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);   // HERE 0
        for (int i = 0; i < 50'000; i++) field.push_back(i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    } else {
        MPI_Recv(field.data(), 50'000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

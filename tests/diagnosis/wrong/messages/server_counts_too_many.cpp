// SPDX-License-Identifier: BSD-3-Clause
// The server waits for one answer per rank, itself included, but sends itself none.
// ranks: 2 8
// expect: T01 ranks all
#include <mpi.h>

#include <iostream>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int i = 0; i < size; i++) {
            int answer;
            MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
            sum += answer;
        }
        std::cout << sum << std::endl;
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);   // HERE 1-last
    MPI_Finalize();
    return 0;
}

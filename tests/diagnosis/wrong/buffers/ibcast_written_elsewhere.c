// SPDX-License-Identifier: BSD-3-Clause
// A rank sets a default value after it has started the broadcast; the root starts later.
// ranks: 2 3
// expect: T11 ranks last
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int parameters[4] = {1, 2, 3, 4};
    MPI_Request request;
    if (rank == 0) MPI_Recv(&size, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibcast(parameters, 4, MPI_INT, 0, MPI_COMM_WORLD, &request);   // HERE last
    if (rank > 0 && rank == size - 1) {
        parameters[3] = 0;
        MPI_Send(&size, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE last
    MPI_Finalize();
    return 0;
}

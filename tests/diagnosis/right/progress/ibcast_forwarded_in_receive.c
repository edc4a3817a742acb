// SPDX-License-Identifier: BSD-3-Clause
// All ranks except the root have started the broadcast and wait in a receive; the last one answers when it has the
// data.
// ranks: 3 8
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int data = 0, x = 0;
    MPI_Request request;
    if (rank == 0) data = 42;
    MPI_Ibcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (rank == size - 1) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < size - 1; i++) MPI_Send(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&x, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return data != 42;
}

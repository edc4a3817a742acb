// SPDX-License-Identifier: BSD-3-Clause
// A server receives requests from any source; the clients send late and in any order.
// ranks: 2 4 8
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = rank;
    MPI_Status status;
    if (rank == 0) {
        for (int i = 0; i < 3 * (size - 1); i++) {
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Send(&x, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD);
        }
    } else {
        for (int i = 0; i < 3; i++) {
            usleep(50000 * (rank % 3));
            MPI_Sendrecv_replace(&x, 1, MPI_INT, 0, i, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}

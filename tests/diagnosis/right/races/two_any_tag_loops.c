// SPDX-License-Identifier: BSD-3-Clause
// Two loops over all other ranks receive messages of any source and any tag, whose order does not matter.
// ranks: 3 5
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = rank, sum = 0;
    if (rank == 0) {
        for (int i = 1; i < size; i++) {
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += x;
        }
        for (int i = 1; i < size; i++) {
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += x;
        }
        if (sum != size * (size - 1)) MPI_Abort(MPI_COMM_WORLD, 1);
    } else {
        usleep(30000 * (size - rank));
        for (int i = 0; i < 2; i++) MPI_Send(&x, 1, MPI_INT, 0, 10 * i + rank, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

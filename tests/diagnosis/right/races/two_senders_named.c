// SPDX-License-Identifier: BSD-3-Clause
// Two senders, and each receive names its source.
// ranks: 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int result[2], x = rank;
    if (rank == 0) {
        for (int i = 0; i < 2; i++)
            MPI_Recv(&result[i], 1, MPI_INT, i + 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

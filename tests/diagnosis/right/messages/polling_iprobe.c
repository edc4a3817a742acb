// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 polls by MPI_Iprobe for half a second, then sends the message that all others wait for.
// ranks: 2 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = 0, flag = 0;
    if (rank == 0) {
        double start = MPI_Wtime();
        while (MPI_Wtime() - start < 0.5)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        for (int i = 1; i < size; i++) MPI_Send(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

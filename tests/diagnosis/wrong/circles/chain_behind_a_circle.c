// SPDX-License-Identifier: BSD-3-Clause
// Ranks 0 and 1 wait for each other; each further rank waits for the one before it and is not a cause.
// ranks: 3 6
// expect: T01 ranks 0-1 behind 2-5
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = rank;
    int source = rank == 0 ? 1 : rank - 1;
    MPI_Recv(&x, 1, MPI_INT, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE all
    MPI_Send(&x, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

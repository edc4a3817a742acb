// SPDX-License-Identifier: BSD-3-Clause
// In a ring, all ranks send synchronously to the right before they receive from the left.
// ranks: 2 4 7
// expect: T01 ranks all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = rank, left;
    MPI_Ssend(&mine, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);   // HERE all
    MPI_Recv(&left, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

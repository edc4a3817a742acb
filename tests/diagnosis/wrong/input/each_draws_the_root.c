// SPDX-License-Identifier: BSD-3-Clause
// Each rank draws the root at random, with its own seed.
// ranks: 3 4
// expect: T04 or T01 one of all
// expect nodes: T04 or T01 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = rank;
    unsigned seed = rank + 1;
    seed = seed * 1103515245u + 12345u;
    int root = (seed >> 16) % size;
    MPI_Bcast(&x, 1, MPI_INT, root, MPI_COMM_WORLD);   // HERE all
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

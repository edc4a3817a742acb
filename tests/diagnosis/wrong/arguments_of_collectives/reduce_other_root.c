// SPDX-License-Identifier: BSD-3-Clause
// The last rank calls MPI_Reduce with itself as the root, all others with rank 0.
// ranks: 2 4
// expect: T04 ranks last
// expect nodes: T01 or T04 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long x = rank, sum = 0;
    int root = rank == size - 1 ? rank : 0;
    MPI_Reduce(&x, &sum, 1, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

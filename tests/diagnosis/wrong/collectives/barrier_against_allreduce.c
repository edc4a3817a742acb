// SPDX-License-Identifier: BSD-3-Clause
// The last rank skips the reduction and calls the next barrier.
// ranks: 2 4
// expect: T03 ranks last
// expect nodes: T03 or T05 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = rank, sum = 0;
    if (rank < size - 1) {
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);   // HERE 0-2
        x = sum;
    }
    if (rank == size - 1 || x > 0) MPI_Barrier(MPI_COMM_WORLD);   // HERE last
    MPI_Finalize();
    return 0;
}

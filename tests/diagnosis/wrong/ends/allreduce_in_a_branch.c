// SPDX-License-Identifier: BSD-3-Clause
// A reduction is in a branch that only some ranks take.
// ranks: 2 4
// expect: T03 or T05 one of 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double mine = rank, sum = 0;
    if (rank < size / 2) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);   // HERE 0-1
    MPI_Finalize();                                                                            // HERE last
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// All ranks send ints and receive floats: already the part that each rank sends to itself does not match.
// ranks: 2 4
// expect: T04
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    float all[16];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_FLOAT, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

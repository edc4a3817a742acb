// SPDX-License-Identifier: BSD-3-Clause
// A rank sends to itself and does not receive it.
// ranks: 1 2
// expect: warning T07 ranks all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF);   // HERE all
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The program calls MPI_Comm_rank before MPI_Init.
// ranks: 1 2
// whole: a call before MPI_Init
// expect: MPI_ERR_OTHER one of all
#include <mpi.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);   // HERE all
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}

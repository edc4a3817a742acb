// SPDX-License-Identifier: BSD-3-Clause
// Two parts of a program free the communicator that they share.
// ranks: 2
// expect: T13 one of 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm mine, theirs;
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    theirs = mine;
    MPI_Comm_free(&mine);     // HERE 0-1
    MPI_Comm_free(&theirs);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A copy of a communicator handle is used after the communicator was freed.
// ranks: 2 3
// expect: T13 one of all
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm row, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &row);
    copy = row;
    MPI_Comm_free(&row);   // HERE all
    MPI_Barrier(copy);     // HERE all
    MPI_Finalize();
    return 0;
}

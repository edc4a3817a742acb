// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_free sets the variable to MPI_COMM_NULL, which is then used.
// ranks: 2
// expect: MPI_ERR_COMM one of 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
    MPI_Barrier(copy);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

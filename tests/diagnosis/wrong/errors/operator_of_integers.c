// SPDX-License-Identifier: BSD-3-Clause
// The operator is not defined for doubles.
// ranks: 2
// expect: MPI_ERR_OP one of all
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double x = rank, all;
    MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_BOR, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

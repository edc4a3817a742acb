// SPDX-License-Identifier: BSD-3-Clause
// The count, rows times columns, overflows an int.
// ranks: 2
// expect: MPI_ERR_COUNT one of 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned rows = 50000, columns = 60000;
    double x = rank;
    MPI_Bcast(&x, (int)(rows * columns), MPI_DOUBLE, 0, MPI_COMM_WORLD);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

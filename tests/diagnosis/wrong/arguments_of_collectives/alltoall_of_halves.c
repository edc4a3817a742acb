// SPDX-License-Identifier: BSD-3-Clause
// All ranks send two ints where one double is received.
// ranks: 2 3
// expect: T04
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int out[8] = {0};
    double in[4];
    MPI_Alltoall(out, 2, MPI_INT, in, 1, MPI_DOUBLE, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

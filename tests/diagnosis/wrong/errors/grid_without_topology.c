// SPDX-License-Identifier: BSD-3-Clause
// MPI_Cart_shift is called on a communicator without a Cartesian topology.
// ranks: 2
// expect: MPI_ERR_TOPOLOGY one of all
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int before, after;
    MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &before, &after);   // HERE all
    MPI_Finalize();
    return 0;
}

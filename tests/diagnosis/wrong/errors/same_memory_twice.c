// SPDX-License-Identifier: BSD-3-Clause
// The send and the receive buffer of a reduction are the same variable.
// ranks: 2
// expect: MPI_ERR_BUFFER one of all
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &rank, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The tag is the difference of two ranks, which is negative in one direction.
// ranks: 2
// expect: MPI_ERR_TAG ranks 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, other = 1 - rank, tag = other - rank;
    if (rank == 0) MPI_Recv(&x, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else MPI_Send(&x, 1, MPI_INT, other, tag, MPI_COMM_WORLD);   // HERE 1
    MPI_Finalize();
    return 0;
}

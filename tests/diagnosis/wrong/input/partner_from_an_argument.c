// SPDX-License-Identifier: BSD-3-Clause
// The partner is an argument, which is too large by one.
// ranks: 2
// args: 2
// expect: MPI_ERR_RANK ranks 0
#include <stdlib.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0, partner = atoi(argv[1]);
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, partner, 0, MPI_COMM_WORLD);   // HERE 0
    if (rank == partner) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

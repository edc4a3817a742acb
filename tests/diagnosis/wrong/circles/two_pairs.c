// SPDX-License-Identifier: BSD-3-Clause
// Two independent circles: at least the one that forms first is reported.
// ranks: 4
// expect: T01 one of 0-3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, other = rank ^ 1;
    if (rank < 2) {
        MPI_Recv(&x, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
        MPI_Send(&x, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    } else {
        MPI_Ssend(&x, 1, MPI_INT, other, 0, MPI_COMM_WORLD);   // HERE 2-3
        MPI_Recv(&x, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

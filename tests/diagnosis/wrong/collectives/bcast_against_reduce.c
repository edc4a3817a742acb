// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 broadcasts, the others reduce.
// ranks: 2 4
// whole: a typical program of students, compiled by mpicc
// expect: T03 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, sum = 0;
    if (rank == 0) MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);         // HERE 0
    else MPI_Reduce(&x, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);   // HERE 1-last
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// MPI_MAX of signed integers at rank 0 and unsigned ones at the others: the result would differ between ranks.
// ranks: 2 4
// expect: T04
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, number, largest;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    number = -rank;
    MPI_Datatype const type = rank == 0 ? MPI_INT : MPI_UNSIGNED;
    MPI_Allreduce(&number, &largest, 1, type, MPI_MAX, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The datatypes of a broadcast differ (eight integers, two pairs of pairs), but their signatures are equal.
// ranks: 2 3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int data[8] = {0};
    MPI_Datatype four;
    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    if (rank == 0) MPI_Bcast(data, 8, MPI_INT, 0, MPI_COMM_WORLD);
    else MPI_Bcast(data, 2, four, 0, MPI_COMM_WORLD);
    MPI_Type_free(&four);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Eight integers here, two pairs of pairs there: the types differ, what is broadcast does not.
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

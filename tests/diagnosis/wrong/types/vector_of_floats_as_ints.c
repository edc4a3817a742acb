// SPDX-License-Identifier: BSD-3-Clause
// A column of floats is received as ints.
// ranks: 2
// expect: T06 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    float matrix[4][4] = {{0}};
    int column[4];
    MPI_Datatype type;
    MPI_Type_vector(4, 1, 4, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    if (rank == 0) MPI_Send(matrix, 1, type, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(column, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: the sender sends a row of five numbers, and the receiver has room for a column of four. */
#include <mpi.h>

enum { rows = 4, columns = 5 };

int main(int argc, char **argv)
{
    int rank;
    double matrix[rows][columns] = {{0}};
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    if (rank == 0)
        MPI_Send(&matrix[1][0], columns, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(&matrix[0][1], 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}

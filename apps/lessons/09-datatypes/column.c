/* SPDX-License-Identifier: BSD-3-Clause */
/* The last column of rank 0's matrix becomes the first column of all others, without a copy in the program. */
#include <mpi.h>
#include <stdio.h>

enum { rows = 4, columns = 5 };

int main(int argc, char **argv)
{
    int rank, size, right = 1;
    double matrix[rows][columns];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            matrix[i][j] = rank == 0 ? 10 * i + j : -1;

    MPI_Datatype column;
    MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    if (rank == 0)
        for (int other = 1; other < size; ++other)
            MPI_Send(&matrix[0][columns - 1], 1, column, other, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(&matrix[0][0], 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);

    for (int i = 0; rank > 0 && i < rows; ++i)
        right = right && matrix[i][0] == 10 * i + columns - 1 && matrix[i][1] == -1;
    if (rank == size - 1)
        printf("rank %d: %g %g %g %g\n", rank, matrix[0][0], matrix[1][0], matrix[2][0], matrix[3][0]);
    MPI_Finalize();
    return right ? 0 : 1;
}

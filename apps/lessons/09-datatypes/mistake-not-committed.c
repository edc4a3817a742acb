/* SPDX-License-Identifier: BSD-3-Clause */
/* A mistake: a datatype is used in a call without having been committed. */
#include <mpi.h>

enum { rows = 4, columns = 5 };

int main(int argc, char **argv)
{
    double matrix[rows][columns] = {{0}};
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
    MPI_Bcast(&matrix[0][1], 1, column, 0, MPI_COMM_WORLD);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A datatype with large gaps spans much memory, all of which exists.
// ranks: 2
#include <stdlib.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    enum { rows = 2000, columns = 3000 };
    double* matrix = calloc(rows * columns, sizeof *matrix);
    MPI_Datatype column;
    MPI_Type_vector(rows, 1, columns, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    if (rank == 0) MPI_Send(matrix, 1, column, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(matrix + columns - 1, 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    free(matrix);
    MPI_Finalize();
    return 0;
}

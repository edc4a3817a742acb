/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks form a table of width 2: sums along the rows and along the columns, each in its own communicator. */
#include <mpi.h>
#include <stdio.h>

enum { width = 2 };

int main(int argc, char **argv)
{
    int rank, size, row_sum, column_sum, all, of_rows;
    MPI_Comm row, column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank / width, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % width, rank, &column);
    MPI_Comm_set_name(row, "row");
    MPI_Comm_set_name(column, "column");

    MPI_Allreduce(&rank, &row_sum, 1, MPI_INT, MPI_SUM, row);
    MPI_Allreduce(&rank, &column_sum, 1, MPI_INT, MPI_SUM, column);
    printf("rank %d: row %d, column %d\n", rank, row_sum, column_sum);

    MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&row_sum, &of_rows, 1, MPI_INT, MPI_SUM, column);
    MPI_Comm_free(&column);
    MPI_Comm_free(&row);
    MPI_Finalize();
    return size % width != 0 || of_rows == all ? 0 : 1;
}

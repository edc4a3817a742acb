// SPDX-License-Identifier: BSD-3-Clause
// The same elements in different layouts: rows and columns, complex numbers and pairs.
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    enum { n = 50 };
    static double a[n][n], b[n * n];
    static int ints[2 * n], pairs[n][2];
    MPI_Datatype column, row;
    MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
    MPI_Type_contiguous(n, MPI_DOUBLE, &row);
    MPI_Type_commit(&column);
    MPI_Type_commit(&row);
    if (rank == 0) {
        MPI_Send(a, 1, column, 1, 0, MPI_COMM_WORLD);
        MPI_Send(a, n, row, 1, 0, MPI_COMM_WORLD);
        MPI_Send(ints, 2 * n, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Send(a, n / 2, MPI_C_DOUBLE_COMPLEX, 1, 0, MPI_COMM_WORLD);
    }
    if (rank == 1) {
        MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(b, n * n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(pairs, n, MPI_2INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&row);
    MPI_Finalize();
    return 0;
}

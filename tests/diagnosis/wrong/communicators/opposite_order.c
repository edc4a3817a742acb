// SPDX-License-Identifier: BSD-3-Clause
// Both ranks synchronize on rows and columns, but in opposite order.
// ranks: 2
// expect: T01 or T03 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm row, column;
    MPI_Comm_dup(MPI_COMM_WORLD, &row);
    MPI_Comm_dup(MPI_COMM_WORLD, &column);
    if (rank == 0) {
        MPI_Barrier(row);   // HERE 0
        MPI_Barrier(column);
    } else {
        MPI_Barrier(column);   // HERE 1
        MPI_Barrier(row);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();
    return 0;
}

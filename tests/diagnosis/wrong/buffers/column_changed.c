// SPDX-License-Identifier: BSD-3-Clause
// A column is sent as a vector, and one of its elements is changed before the wait.
// ranks: 2
// expect: T10 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int a[8][8] = {{0}};
    MPI_Datatype column;
    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(&a[0][3], 1, column, 1, 0, MPI_COMM_WORLD, &request);   // HERE 0
        a[5][3] = 9;
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    } else {
        MPI_Recv(&a[0][3], 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}

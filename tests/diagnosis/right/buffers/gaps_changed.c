// SPDX-License-Identifier: BSD-3-Clause
// The gaps between the elements of a vector are written while the vector is sent and received.
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int a[8][8] = {{0}};
    MPI_Datatype column;
    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Request requests[3];
    MPI_Isend(&a[0][3], 1, column, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&a[0][4], 1, column, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&a[0][5], 1, column, 1 - rank, 1, MPI_COMM_WORLD, &requests[2]);
    for (int i = 0; i < 8; i++) a[i][0] = a[i][7] = i;
    MPI_Send(&a[0][7], 1, column, 1 - rank, 1, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}

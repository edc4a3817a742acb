// SPDX-License-Identifier: BSD-3-Clause
// Messages that are shorter than their receive, of one type and of several.
// ranks: 2 4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct {
        double x;
        int n;
    } a[3] = {{1, 2}}, b[3];
    int lengths[2] = {1, 1}, n[8];
    MPI_Aint places[2] = {0, sizeof(double)};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT}, pair, spaced;
    MPI_Type_create_struct(2, lengths, places, types, &pair);
    MPI_Type_create_resized(pair, 0, sizeof a[0], &spaced);
    MPI_Type_commit(&spaced);
    if (rank == 0) {
        MPI_Send(a, 2, spaced, 1, 0, MPI_COMM_WORLD);
        MPI_Send(&a[0].x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Send(a, 1, MPI_DOUBLE_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Send(lengths, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Send(n, 0, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
    }
    if (rank == 1) {
        for (int i = 0; i < 3; i++) MPI_Recv(b, 3, spaced, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 2; i++) MPI_Recv(n, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&pair);
    MPI_Type_free(&spaced);
    MPI_Finalize();
    return 0;
}

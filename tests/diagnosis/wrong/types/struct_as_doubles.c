// SPDX-License-Identifier: BSD-3-Clause
// A struct of an int and a double is received as doubles.
// ranks: 2
// expect: T06 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct {
        double x;
        int n;
    } a = {1, 2};
    double b[2];
    int lengths[2] = {1, 2};
    MPI_Aint places[2] = {0, sizeof(double)};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT}, type;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    if (rank == 0) MPI_Send(&a, 1, type, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(b, 2, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}

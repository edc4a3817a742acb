// SPDX-License-Identifier: BSD-3-Clause
// The fields of a struct are sent in another order than they are received.
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
    struct {
        int n;
        double x;
    } b;
    int lengths[2] = {1, 1};
    MPI_Aint of_a[2] = {0, sizeof(double)}, of_b[2] = {0, (char*)&b.x - (char*)&b};
    MPI_Datatype types_of_a[2] = {MPI_DOUBLE, MPI_INT}, types_of_b[2] = {MPI_INT, MPI_DOUBLE}, type;
    if (rank == 0) MPI_Type_create_struct(2, lengths, of_a, types_of_a, &type);
    else MPI_Type_create_struct(2, lengths, of_b, types_of_b, &type);
    MPI_Type_commit(&type);
    if (rank == 0) MPI_Send(&a, 1, type, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&b, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}

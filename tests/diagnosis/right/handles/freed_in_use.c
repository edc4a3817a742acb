// SPDX-License-Identifier: BSD-3-Clause
// A datatype, a communicator and a group are freed while operations and other objects still use them.
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Group world, one;
    MPI_Comm comm, part;
    MPI_Datatype pair;
    MPI_Request request;
    int x[2] = {rank, rank}, y[2];
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank, &one);
    MPI_Group_free(&world);
    MPI_Comm_create_group(MPI_COMM_WORLD, one, 0, &part);
    MPI_Group_free(&one);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Irecv(y, 1, pair, 1 - rank, 0, comm, &request);
    MPI_Send(x, 1, pair, 1 - rank, 0, comm);
    MPI_Type_free(&pair);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&part);
    MPI_Finalize();
    return 0;
}

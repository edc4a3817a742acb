// SPDX-License-Identifier: BSD-3-Clause
// Inactive persistent requests and objects are left to MPI_Finalize.
// may warn: T08
// ranks: 1 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static int x;
    MPI_Request request;
    MPI_Comm dup;
    MPI_Datatype type;
    MPI_Recv_init(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Type_contiguous(3, MPI_INT, &type);
    (void)rank;
    MPI_Finalize();
    return 0;
}

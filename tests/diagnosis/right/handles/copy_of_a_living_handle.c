// SPDX-License-Identifier: BSD-3-Clause
// Copies of a handle are used while the object exists, and reset before it is freed.
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm comm, copy;
    MPI_Datatype pair, same;
    int x[2] = {rank, rank};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    copy = comm, same = pair;
    MPI_Bcast(x, 1, same, 0, copy);
    copy = MPI_COMM_NULL, same = MPI_DATATYPE_NULL;
    MPI_Type_free(&pair);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

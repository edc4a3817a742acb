// SPDX-License-Identifier: BSD-3-Clause
// A datatype is used without MPI_Type_commit.
// ranks: 2
// expect: MPI_ERR_TYPE one of all
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int a[4] = {0};
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Bcast(a, 2, pair, 0, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

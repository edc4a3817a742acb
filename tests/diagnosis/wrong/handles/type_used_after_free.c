// SPDX-License-Identifier: BSD-3-Clause
// A datatype is used after it was freed.
// ranks: 2
// expect: T13 one of 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[4] = {0};
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Datatype copy = pair;
    MPI_Type_free(&pair);                       // HERE 0-1
    MPI_Bcast(x, 2, copy, 0, MPI_COMM_WORLD);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Two variables hold the same datatype, and both are freed.
// ranks: 2
// expect: T13 one of 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype pair, copy;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    copy = pair;
    MPI_Type_free(&pair);   // HERE 0-1
    MPI_Type_free(&copy);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

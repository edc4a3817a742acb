// SPDX-License-Identifier: BSD-3-Clause
// Datatypes are created repeatedly and not freed.
// ranks: 1 2
// expect: warning T08 ranks all
// env: TUTTI_DIAGNOSIS=full
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype type;
    for (int i = 0; i < 10; i++) MPI_Type_contiguous(3, MPI_INT, &type);   // HERE all
    MPI_Finalize();
    return 0;
}

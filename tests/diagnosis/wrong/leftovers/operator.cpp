// SPDX-License-Identifier: BSD-3-Clause
// An operator is not freed.
// ranks: 2
// expect: warning T08 ranks all
// env: TUTTI_DIAGNOSIS=full
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op op;
    MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &op);   // HERE all
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A user-defined operator is freed before its last reduction.
// ranks: 2
// expect: T13 one of 0-1
// mpiexec: --check
#include <mpi.h>

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *n; i++) ((int*)inout)[i] += ((int*)in)[i];
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, sum;
    MPI_Op op, copy;
    MPI_Op_create(add, 1, &op);
    copy = op;
    MPI_Op_free(&op);                                            // HERE 0-1
    MPI_Allreduce(&x, &sum, 1, MPI_INT, copy, MPI_COMM_WORLD);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

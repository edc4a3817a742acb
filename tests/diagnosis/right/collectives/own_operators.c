// SPDX-License-Identifier: BSD-3-Clause
// Each rank creates its own handle of the same operator, and one creates another handle before it.
// ranks: 2 4
#include <mpi.h>

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((int*)inout)[i] += ((int*)in)[i];
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = 1, sum = 0;
    MPI_Op op, other;
    if (rank == 1) MPI_Op_create(add, 1, &other);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    if (rank == 1) MPI_Op_free(&other);
    MPI_Finalize();
    return 0;
}

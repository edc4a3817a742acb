// SPDX-License-Identifier: BSD-3-Clause
// The operator of a reduction takes a quarter of a second within the call of one rank.
// ranks: 2 4
#include <unistd.h>

#include <mpi.h>

static void add_slowly(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    usleep(250000);
    for (int i = 0; i < *count; i++) ((int*)inout)[i] += ((int*)in)[i];
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1, sum = 0;
    MPI_Op op;
    MPI_Op_create(add_slowly, 1, &op);
    MPI_Reduce(&x, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}

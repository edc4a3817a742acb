// SPDX-License-Identifier: BSD-3-Clause
// An error handler of the program continues after the error.
// ranks: 2
#include <mpi.h>

static int calls;

static void count(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    ++calls;
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(count, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (calls != 1) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}

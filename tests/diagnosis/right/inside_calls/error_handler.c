// SPDX-License-Identifier: BSD-3-Clause
// An error handler of the program takes half a second, while the other rank waits for the message that follows.
// ranks: 2
#include <unistd.h>

#include <mpi.h>

static void handle_slowly(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    usleep(500000);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(handle_slowly, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (rank == 0) {
        MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
        MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}

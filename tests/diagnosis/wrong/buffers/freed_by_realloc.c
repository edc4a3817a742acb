// SPDX-License-Identifier: BSD-3-Clause
// A receive buffer is moved by realloc before its message has arrived.
// ranks: 2
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, bytes = 8 << 20;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *field = calloc(bytes, 1), *neighbour = malloc(bytes);   // so that the first cannot grow in its place
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(field, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);   // HERE 0
        field = realloc(field, 3 * bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(field, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    free(field);
    free(neighbour);
    MPI_Finalize();
    return 0;
}

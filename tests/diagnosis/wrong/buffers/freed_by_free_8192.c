// SPDX-License-Identifier: BSD-3-Clause
// As in freed_by_free.c, with 8192 bytes.
// ranks: 2
// args: 8192
// expect: T10 ranks 0
// mpiexec: --check
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, bytes = argc > 1 ? atoi(argv[argc - 1]) : 32;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char* field = malloc(bytes);
    memset(field, 7, bytes);
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(field, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);   // HERE 0
        free(field);
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    } else {
        MPI_Recv(field, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

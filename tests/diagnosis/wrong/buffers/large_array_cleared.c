// SPDX-License-Identifier: BSD-3-Clause
// A large array is cleared while it is still being sent.
// ranks: 2
// expect: T10 ranks 0
// mpiexec: --check
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double* field = calloc(200000, sizeof *field);
    MPI_Request request;
    if (rank == 0) {
        for (int i = 0; i < 200000; i++) field[i] = i;
        MPI_Isend(field, 200000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);   // HERE 0
        memset(field, 0, 200000 * sizeof *field);
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    } else {
        MPI_Recv(field, 200000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(field);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The buffer has room for a thousand elements, but the count is a hundred million.
// ranks: 2
// expect: warning T17 ranks 1
// mpiexec: --check
#include <stdlib.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double* x = malloc(1000 * sizeof *x);
    MPI_Request request;
    if (rank == 0) {
        for (int i = 0; i < 1000; i++) x[i] = i;
        MPI_Send(x, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(x, 100000000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);   // HERE 1
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    free(x);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The receiver does not know the size of the message, and probes for it.
// ranks: 2
// input: 7
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 1, *x;
    if (rank == 0) {
        if (scanf("%d", &n) != 1) n = 1;
        x = calloc(n, sizeof *x);
        MPI_Send(x, n, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Status status;
        MPI_Probe(0, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &n);
        x = calloc(n, sizeof *x);
        MPI_Recv(x, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(x);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A large message is received into a vector, whether or not its receive is posted when it arrives; gaps are written
// meanwhile.
// ranks: 2
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 100000;
    double* field = calloc(2 * n, sizeof *field);
    MPI_Datatype even;
    MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &even);
    MPI_Type_commit(&even);
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(field, 1, even, 1, 0, MPI_COMM_WORLD, &request);
        for (int i = 0; i < n; i++) field[2 * i + 1] = -1;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            if (field[2 * i] != i || field[2 * i + 1] != -1) MPI_Abort(MPI_COMM_WORLD, 3);
    } else {
        for (int i = 0; i < n; i++) field[i] = i;
        MPI_Send(field, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Type_free(&even);
    free(field);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Messages are shorter than their receive buffers, or empty.
// ranks: 2
#include <mpi.h>
#include <stddef.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static double x[100000];
    int n;
    MPI_Status status;
    if (rank == 0) {
        MPI_Send(x, 10, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(x, 100000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &status);
        MPI_Recv(x, 100000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &n);
        if (n != 0) MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// More messages than the internal buffers hold are never received.
// ranks: 2
// expect: warning T07 ranks 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x[100] = {0};
    for (int i = 0; i < 1000 && rank == 0; i++) MPI_Send(x, 100, MPI_DOUBLE, 1, i % 2, MPI_COMM_WORLD);   // HERE 0
    MPI_Finalize();
    return 0;
}

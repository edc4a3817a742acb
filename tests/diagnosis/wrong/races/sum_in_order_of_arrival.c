// SPDX-License-Identifier: BSD-3-Clause
// Floating-point numbers are summed in order of arrival, so the result depends on that order.
// ranks: 4
// expect: warning T12 ranks 0
// mpiexec: --check
#include <stdio.h>
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 1.0 / (1 + rank), sum = 0;
    if (rank == 0) {
        sleep(1);
        for (int i = 1; i < 4; i++) {
            MPI_Recv(&x, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
            sum = sum / 3 + x;
        }
        printf("%.17g\n", sum);
    } else {
        MPI_Send(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 makes one step less, because it stops when its local error is small enough.
// ranks: 2 3
// expect: T03 or T05 one of 1-2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double error = rank == 0 ? 1.0 : 4.0;
    while (error > 0.5) {
        double sum;
        MPI_Allreduce(&error, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);   // HERE 1-2
        error /= 2;
    }
    MPI_Finalize();
    return 0;
}

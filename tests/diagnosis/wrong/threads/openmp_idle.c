// SPDX-License-Identifier: BSD-3-Clause
// The OpenMP workers sleep after their loop, and the ranks wait for each other.
// ranks: 2
// flags: -fopenmp
// env: OMP_NUM_THREADS=3
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    double sum = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; i++) sum += i;
    MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
    MPI_Finalize();
    return sum < 0;
}

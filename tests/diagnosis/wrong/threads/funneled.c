// SPDX-License-Identifier: BSD-3-Clause
// With MPI_THREAD_FUNNELED only the main threads call MPI, and they wait for each other.
// ranks: 2 4
// expect: T01 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Ssend(&x, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD);   // HERE all
    MPI_Recv(&x, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

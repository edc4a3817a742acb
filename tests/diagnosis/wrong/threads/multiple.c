// SPDX-License-Identifier: BSD-3-Clause
// The program requests MPI_THREAD_MULTIPLE, as mpi4py does, but has one thread.
// ranks: 2 4
// expect: T01 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv(&x, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE all
    MPI_Send(&x, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

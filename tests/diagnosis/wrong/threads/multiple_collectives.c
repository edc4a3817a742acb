// SPDX-License-Identifier: BSD-3-Clause
// With MPI_THREAD_MULTIPLE and one thread, a broadcast matches a barrier.
// ranks: 2 3
// expect: T03 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    int rank, provided, x = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);          // HERE 0
    else MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);   // HERE 1-last
    MPI_Finalize();
    return 0;
}

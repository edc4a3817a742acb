// SPDX-License-Identifier: BSD-3-Clause
// Two nonblocking sums have the same receive buffer at rank 0.
// ranks: 2
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int a = rank, b = 2 * rank, sum, other;
    MPI_Request requests[2];
    MPI_Iallreduce(&a, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);                        // HERE 0
    MPI_Iallreduce(&b, rank == 0 ? &sum : &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);   // HERE 0
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}

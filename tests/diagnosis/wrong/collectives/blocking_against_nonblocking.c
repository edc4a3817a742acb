// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allreduce does not match MPI_Iallreduce.
// ranks: 2 3
// expect: T03 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, sum = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);   // HERE 0
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);   // HERE 1-last
    }
    MPI_Finalize();
    return 0;
}

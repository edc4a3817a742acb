// SPDX-License-Identifier: BSD-3-Clause
// A receive is posted before a barrier and completed after it, so the barrier does not order the messages.
// ranks: 4
// expect: warning T12 ranks 0-2
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, before, behind;
    MPI_Request requests[2];
    if (rank == 1)
        MPI_Irecv(&before, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);   // HERE 1
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Irecv(&behind, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);   // HERE 1
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    } else if (rank != 3) {
        MPI_Send(&x, 1, MPI_INT, 1, rank, MPI_COMM_WORLD);   // HERE 0 2
    }
    MPI_Finalize();
    return 0;
}

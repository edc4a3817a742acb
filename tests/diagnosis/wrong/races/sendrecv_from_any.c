// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 answers rank 1 and receives any message as its next question.
// ranks: 3
// expect: warning T12 ranks 0
// mpiexec: --check
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, y;
    if (rank == 0) {
        sleep(1);
        MPI_Sendrecv(&x, 1, MPI_INT, 1, 1, &y, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,   // HERE 0
                     MPI_STATUS_IGNORE);
        MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Request request;
        MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        if (rank == 1) MPI_Recv(&y, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The receives wait long before any message is sent, and the expected first sender sends last.
// ranks: 3
// expect: warning T12 ranks 0-2
// mpiexec: --check
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, first, second;
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[0]);   // HERE 0
        MPI_Irecv(&second, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        usleep(rank == 1 ? 400000 : 200000);
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);   // HERE 1-2
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The receives are from any source; the index of the completed request does not determine the sender.
// ranks: 3 4
// expect: warning T12 ranks 0
// mpiexec: --check
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, result[2], which;
    MPI_Request requests[2];
    if (rank == 0) {
        sleep(1);
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&result[i], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[i]);   // HERE 0
        for (int i = 0; i < 2; i++) MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
    } else if (rank < 3) {
        MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Persistent receives and sends; the receives wait before anything is sent.
// ranks: 3
// expect: warning T12 ranks 0-2
// mpiexec: --check
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[2] = {rank, rank}, n = rank == 0 ? 2 : 1;
    MPI_Request requests[2];
    for (int i = 0; i < n; i++) {
        if (rank == 0) MPI_Recv_init(&x[i], 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &requests[i]);
        else MPI_Send_init(&x[i], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[i]);
    }
    if (rank > 0) usleep(100000 * rank);
    MPI_Startall(n, requests);   // HERE 0-2
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) MPI_Request_free(&requests[i]);
    MPI_Finalize();
    return 0;
}

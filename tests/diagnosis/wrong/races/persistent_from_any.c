// SPDX-License-Identifier: BSD-3-Clause
// A persistent receive from any source, started for each of two senders.
// ranks: 3
// expect: warning T12 ranks 0
// mpiexec: --check
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    if (rank == 0) {
        MPI_Request request;
        MPI_Recv_init(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
        sleep(1);
        for (int i = 0; i < 2; i++) {
            MPI_Start(&request);   // HERE 0
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

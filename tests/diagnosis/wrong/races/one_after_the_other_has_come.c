// SPDX-License-Identifier: BSD-3-Clause
// The second message is sent long after the first one was received, but only a pause orders them.
// ranks: 3
// expect: warning T12 ranks 0-2
// mpiexec: --check
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, size, data;
    if (rank == 0) {
        MPI_Recv(&size, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
        MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
    } else {
        if (rank == 2) usleep(500000);
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);   // HERE 1-2
    }
    MPI_Finalize();
    return 0;
}

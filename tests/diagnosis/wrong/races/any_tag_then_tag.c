// SPDX-License-Identifier: BSD-3-Clause
// The first receive may match the message with tag 1, for which the second one then waits forever.
// ranks: 3
// expect: warning T12 ranks 0-2
// mpiexec: --check
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    MPI_Status status;
    if (rank == 0) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);   // HERE 0
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);             // HERE 0
    } else {
        if (rank == 1) usleep(300000);
        MPI_Send(&x, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);   // HERE 1-2
    }
    MPI_Finalize();
    return 0;
}

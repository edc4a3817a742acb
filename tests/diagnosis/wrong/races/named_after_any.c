// SPDX-License-Identifier: BSD-3-Clause
// The message of rank 3 is meant for the last receive, but the receives from any source may match it: without a barrier
// before it, one result is then missing, and the last receive has no message.
// ranks: 4
// expect: warning T12 ranks 0
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
        for (int i = 0; i < 20; i++)
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);   // HERE 0
        MPI_Recv(&x, 1, MPI_INT, 3, 0, MPI_COMM_WORLD, &status);                    // HERE 0
    } else if (rank < 3) {
        for (int i = 0; i < 10; i++) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Send(&x, 1, MPI_INT, 3, 0, MPI_COMM_WORLD);
    } else {
        for (int i = 1; i < 3; i++) MPI_Recv(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD, &status);
        usleep(100000);
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);   // HERE 3
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The program assumes that the first message is the size and the second one the data.
// ranks: 3
// expect: warning T12 ranks 0
// mpiexec: --check
#include <unistd.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[2] = {rank, rank};
    if (rank == 0) {
        sleep(1);
        MPI_Recv(&x[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0
        MPI_Recv(&x[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(x, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

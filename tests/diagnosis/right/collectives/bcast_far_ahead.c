// SPDX-License-Identifier: BSD-3-Clause
// A broadcast does not wait for its receivers: the root finishes early, sleeps, and then sends the message that a
// receiver waits for.
// unchecked: relies on a collective that does not synchronize, which MPI does not guarantee
// ranks: 2 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1, y = 0;
    if (rank == 1) MPI_Recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(300000);
        MPI_Send(&y, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

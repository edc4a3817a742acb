// SPDX-License-Identifier: BSD-3-Clause
// Messages arrive in another order than they are received in.
// unchecked: relies on buffering of messages, which MPI does not guarantee
// ranks: 2
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    for (int tag = 0; tag < 5 && rank == 0; tag++) {
        MPI_Send(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
        usleep(100000);
    }
    for (int tag = 4; tag >= 0 && rank == 1; tag--) MPI_Recv(&x, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

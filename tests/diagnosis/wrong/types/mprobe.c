// SPDX-License-Identifier: BSD-3-Clause
// A message matched by MPI_Mprobe is received as another type.
// ranks: 2
// expect: T06 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    short n = 42;
    char x[2];
    MPI_Message message;
    if (rank == 0) MPI_Send(&n, 1, MPI_SHORT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(x, 2, MPI_CHAR, &message, MPI_STATUS_IGNORE);   // HERE 1
    }
    MPI_Finalize();
    return 0;
}

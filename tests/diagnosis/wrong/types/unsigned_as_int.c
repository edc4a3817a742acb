// SPDX-License-Identifier: BSD-3-Clause
// Unsigned integers are received as signed ones, which do not match.
// ranks: 2 3
// expect: T06 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned sent[2] = {1, 4000000000u};
    int got[2];
    if (rank == 0) MPI_Send(sent, 2, MPI_UNSIGNED, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(got, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The probe has tag 3; the message has tag 4.
// ranks: 2 3
// expect: T02 ranks 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 1;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Probe(0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
        MPI_Recv(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

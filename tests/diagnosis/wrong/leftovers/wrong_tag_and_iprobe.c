// SPDX-License-Identifier: BSD-3-Clause
// A message has a tag for which no rank probes.
// ranks: 2
// expect: warning T07 ranks 1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0, found = 0;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);   // HERE 0
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Iprobe(0, 8, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    if (found) MPI_Recv(&x, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 probes for tag 8, rank 1 has sent tag 7 and waits.
// ranks: 2
// limit: 120
// env: TUTTI_POLLING_LIMIT=2
// expect: warning T19 ranks 0-1 ending with 143
// ended: when it is reported
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, found = 0;
    if (rank == 0) {
        while (!found) MPI_Iprobe(1, 8, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);   // HERE 0
        MPI_Recv(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Three ranks of a larger job wait in a circle: 0 for 2, 1 for 0, and 2 for 1. The others wait in the reduction.
// ranks: 3 5
// expect: T01 ranks 0-2 behind 3-4
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = 1, sum = 0;
    if (rank < 3) {
        int token;
        MPI_Recv(&token, 1, MPI_INT, (rank + 2) % 3, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-2
        MPI_Send(&token, 1, MPI_INT, (rank + 1) % 3, 1, MPI_COMM_WORLD);
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);   // HERE 3-4
    MPI_Finalize();
    return 0;
}

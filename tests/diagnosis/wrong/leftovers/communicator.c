// SPDX-License-Identifier: BSD-3-Clause
// A communicator is not freed.
// ranks: 2 4
// expect: warning T08 ranks all
// env: TUTTI_DIAGNOSIS=full
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);   // HERE all
    MPI_Barrier(half);
    MPI_Finalize();
    return 0;
}

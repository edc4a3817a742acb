// SPDX-License-Identifier: BSD-3-Clause
// The root broadcasts ten elements, the others receive five.
// ranks: 2 4
// expect: T04 ranks 0
// expect nodes: MPI_ERR_TRUNCATE or T04 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x[10] = {0};
    MPI_Bcast(x, rank == 0 ? 10 : 5, MPI_INT, 0, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

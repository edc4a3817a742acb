// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 broadcasts as many elements as it has read; the others receive a fixed number.
// ranks: 2 3
// input: 8
// expect: T04 or MPI_ERR_TRUNCATE one of all
// expect nodes: MPI_ERR_TRUNCATE or T04 one of all
#include <stdio.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 4, x[16] = {0};
    if (rank == 0 && scanf("%d", &n) != 1) n = 4;
    MPI_Bcast(x, n, MPI_INT, 0, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

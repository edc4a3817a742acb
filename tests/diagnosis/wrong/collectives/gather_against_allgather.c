// SPDX-License-Identifier: BSD-3-Clause
// Even ranks call MPI_Gather, odd ranks MPI_Allgather.
// ranks: 2 3
// expect: T03 one of all
// expect nodes: T03 or T05 or MPI_ERR_TRUNCATE one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, all[8];
    if (rank % 2 == 0) MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);   // HERE 0 2
    else MPI_Allgather(&x, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);                 // HERE 1
    MPI_Finalize();
    return 0;
}

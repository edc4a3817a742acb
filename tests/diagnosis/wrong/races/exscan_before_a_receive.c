// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 sends after the collective the message that rank 1 receives before it. This works only if rank 0 does not wait
// in the collective.
// ranks: 2 3
// expect: T01 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, x = 1, y, all[8] = {0};
    (void)y, (void)all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 1
    MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);   // HERE 0 2-last
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

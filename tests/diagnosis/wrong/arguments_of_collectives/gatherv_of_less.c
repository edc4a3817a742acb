// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 sends less than the root receives; --check finds this before any data is sent.
// ranks: 2 3
// expect: T04 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, out[4] = {0}, in[8], counts[4] = {2, 2, 2, 2}, places[4] = {0, 2, 4, 6};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Gatherv(out, rank == 1 ? 1 : 2, MPI_INT, in, counts, places, MPI_INT, 0, MPI_COMM_WORLD);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

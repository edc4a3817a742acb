// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 sends more than the root has room for; the report names both calls.
// ranks: 2 3
// expect: T04 ranks 0-1
// expect nodes: T04 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, out[4] = {0}, in[4], counts[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Gatherv(out, rank == 1 ? 3 : 1, MPI_INT, in, counts, places, MPI_INT, 0, MPI_COMM_WORLD);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

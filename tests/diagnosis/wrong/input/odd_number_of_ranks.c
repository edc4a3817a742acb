// SPDX-License-Identifier: BSD-3-Clause
// Neighbours form pairs; with an odd number of ranks the last one has no partner.
// ranks: 3 5
// expect: MPI_ERR_RANK ranks last
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int partner = rank % 2 == 0 ? rank + 1 : rank - 1, x = rank, y;
    MPI_Sendrecv(&x, 1, MPI_INT, partner, 0, &y, 1, MPI_INT, partner, 0, MPI_COMM_WORLD,   // HERE last
                 MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

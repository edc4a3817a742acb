// SPDX-License-Identifier: BSD-3-Clause
// In the second half, the root has another rank than in the world, and two ranks use different roots.
// ranks: 4
// expect: T04 ranks 2-3
// expect nodes: T04 or T01 ranks 2-3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, all[4];
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    int root = rank == 3 ? 1 : 0;
    MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, root, half);   // HERE 2-3
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A rank dereferences a null pointer while the others wait in a barrier.
// ranks: 2 4
// whole: the end of the process matters
// expect: T09 ranks 1 ending with 139
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);   // HERE 1
    if (rank == 1) *(int volatile*)0 = x;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

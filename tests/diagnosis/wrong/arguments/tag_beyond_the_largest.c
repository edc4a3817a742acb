// SPDX-License-Identifier: BSD-3-Clause
// A tag computed from rank and step is larger than MPI_TAG_UB.
// ranks: 2
// expect: MPI_ERR_TAG ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    unsigned tag = (rank + 1) * 100000u * 30000u;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, (int)tag, MPI_COMM_WORLD);   // HERE 0
    else MPI_Recv(&x, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

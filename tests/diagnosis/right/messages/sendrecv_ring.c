// SPDX-License-Identifier: BSD-3-Clause
// All ranks send large blocks to the right at the same time by MPI_Sendrecv.
// ranks: 2 3 8
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int count = 1 << 18, left = (rank + size - 1) % size, right = (rank + 1) % size;
    double* mine = calloc(count, sizeof(double));
    double* theirs = calloc(count, sizeof(double));
    for (int step = 0; step < 5; step++)
        MPI_Sendrecv(mine, count, MPI_DOUBLE, right, 0, theirs, count, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    free(theirs);
    free(mine);
    MPI_Finalize();
    return 0;
}

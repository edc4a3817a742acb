// SPDX-License-Identifier: BSD-3-Clause
// In a shift, all ranks receive from the right, to which they also send: with 3 ranks no message matches.
// ranks: 3 5
// expect: T01 ranks all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = rank, right = (rank + 1) % size;
    MPI_Sendrecv_replace(&x, 1, MPI_INT, right, 0, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE all
    MPI_Finalize();
    return 0;
}

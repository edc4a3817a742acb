// SPDX-License-Identifier: BSD-3-Clause
// The grid is not periodic, but the program sends around its edge to a rank that does not receive there.
// ranks: 3 4
// expect: T01 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int periodic = 0, left, right, x = rank;
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
    MPI_Cart_shift(line, 0, 1, &left, &right);
    if (rank == 0) left = size - 1;
    MPI_Sendrecv_replace(&x, 1, MPI_INT, right, 0, left, 0, line, MPI_STATUS_IGNORE);   // HERE 0
    MPI_Barrier(line);                                                                  // HERE 1-last
    MPI_Comm_free(&line);
    MPI_Finalize();
    return 0;
}

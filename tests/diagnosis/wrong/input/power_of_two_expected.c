// SPDX-License-Identifier: BSD-3-Clause
// A reduction by halves works only for numbers of ranks that are powers of two.
// ranks: 3
// expect: MPI_ERR_RANK one of 1-2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = rank, y;
    for (int distance = 1; distance < size; distance *= 2) {
        int partner = rank ^ distance;
        MPI_Sendrecv(&x, 1, MPI_INT, partner, distance, &y, 1, MPI_INT, partner, distance, MPI_COMM_WORLD,   // HERE 1-2
                     MPI_STATUS_IGNORE);
        x += y;
    }
    MPI_Finalize();
    return 0;
}

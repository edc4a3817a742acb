// SPDX-License-Identifier: BSD-3-Clause
// The root is a rank of another communicator.
// ranks: 4
// expect: MPI_ERR_ROOT one of 1 3 behind 0 2
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    MPI_Bcast(&size, 1, MPI_INT, rank % 2 ? 3 : 0, part);   // HERE 1 3
    MPI_Finalize();
    return 0;
}

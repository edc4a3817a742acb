// SPDX-License-Identifier: BSD-3-Clause
// With an odd number of ranks the last one has no partner, and uses MPI_PROC_NULL.
// ranks: 1 2 3 5
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int partner = rank % 2 == 0 ? rank + 1 : rank - 1, x = rank, y;
    if (partner == size) partner = MPI_PROC_NULL;
    MPI_Sendrecv(&x, 1, MPI_INT, partner, 0, &y, 1, MPI_INT, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

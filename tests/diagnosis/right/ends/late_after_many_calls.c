// SPDX-License-Identifier: BSD-3-Clause
// In MPI_Finalize nodes send each other the records of many different calls, in messages too large for the eager
// protocol. A rank that calls MPI_Finalize late receives these messages then.
// ranks: 2 3 4
// env: TUTTI_EAGER_NETWORK=1024
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char* data = calloc(200, 1);
    for (int n = 1; n <= 200; ++n) MPI_Bcast(data, n, MPI_CHAR, n % size, MPI_COMM_WORLD);
    free(data);
    if (rank == size - 1) usleep(200000);
    MPI_Finalize();
    return 0;
}

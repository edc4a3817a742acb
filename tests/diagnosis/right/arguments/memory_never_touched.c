// SPDX-License-Identifier: BSD-3-Clause
// A short message is received into half a gigabyte of memory whose pages were never touched.
// ranks: 2
#include <stdlib.h>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    size_t bytes = (size_t)1 << 29;
    char* x = malloc(bytes);
    if (rank == 0) MPI_Send("a line", 7, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else MPI_Recv(x, (int)bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(x);
    MPI_Finalize();
    return 0;
}

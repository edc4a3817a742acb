// SPDX-License-Identifier: BSD-3-Clause
// A halo exchange with blocking sends, which works with small rows, blocks with rows of 4 MiB.
// ranks: 2 4
// expect: T01 ranks all
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int count = 1 << 20, left = (rank + size - 1) % size, right = (rank + 1) % size;
    float* row = calloc(count, sizeof(float));
    float* halo = calloc(count, sizeof(float));
    MPI_Send(row, count, MPI_FLOAT, right, 0, MPI_COMM_WORLD);   // HERE all
    MPI_Recv(halo, count, MPI_FLOAT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

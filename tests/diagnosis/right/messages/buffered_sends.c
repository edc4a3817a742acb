// SPDX-License-Identifier: BSD-3-Clause
// Both ranks first send large messages by buffered sends.
// ranks: 2 4
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int count = 1 << 18, length = count * (int)sizeof(double) + MPI_BSEND_OVERHEAD;
    double* block = calloc(count, sizeof(double));
    void* buffer = malloc(length);
    MPI_Buffer_attach(buffer, length);
    MPI_Bsend(block, count, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD);
    MPI_Recv(block, count, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&buffer, &length);
    free(buffer);
    free(block);
    MPI_Finalize();
    return 0;
}

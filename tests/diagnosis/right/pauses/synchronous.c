// SPDX-License-Identifier: BSD-3-Clause
// Large and synchronous sends in both directions in turn, with random pauses.
// ranks: 2 4
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int const count = 1 << 17;
    double* block = calloc(count, sizeof(double));
    srand(rank);
    for (int step = 0; step < 40; step++) {
        usleep(rand() % 40000);
        int length = step % 2 ? count : 1;
        if ((rank + step / 2) % 2) MPI_Ssend(block, length, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD);
        else MPI_Recv(block, count, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(block);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends, the last of which are received shortly before the end.
// may warn: T08
// ranks: 2
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static char buffer[100000];
    int x = 0;
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int i = 0; i < 100; i++) {
        if (rank == 0) MPI_Bsend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 100; i++)
        if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

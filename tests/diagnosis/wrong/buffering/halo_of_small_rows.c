// SPDX-License-Identifier: BSD-3-Clause
// Each rank sends to both neighbours before it receives; the messages are small enough to be buffered.
// ranks: 4
// expect: T01 ranks all
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int up = (rank + 1) % 4, down = (rank + 3) % 4;
    float row[16] = {0}, above[16], below[16];
    MPI_Send(row, 16, MPI_FLOAT, up, 1, MPI_COMM_WORLD);   // HERE all
    MPI_Send(row, 16, MPI_FLOAT, down, 2, MPI_COMM_WORLD);
    MPI_Recv(below, 16, MPI_FLOAT, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(above, 16, MPI_FLOAT, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

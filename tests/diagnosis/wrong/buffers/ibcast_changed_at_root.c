// SPDX-License-Identifier: BSD-3-Clause
// The root changes the buffer before its broadcast is complete.
// ranks: 2 4
// expect: T10 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int step = 1, flag = 0;
    MPI_Request request;
    MPI_Ibcast(&step, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);   // HERE 0
    if (rank == 0) step++;
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);   // HERE 0
    MPI_Finalize();
    return 0;
}

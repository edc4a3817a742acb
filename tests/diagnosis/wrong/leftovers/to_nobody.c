// SPDX-License-Identifier: BSD-3-Clause
// Requests with MPI_PROC_NULL must also be completed.
// ranks: 1 2
// expect: warning T07 ranks all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int x = 0;
    MPI_Request requests[2];
    MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A nonblocking collective is never completed.
// ranks: 2 3
// expect: warning T07 ranks all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static int x;
    MPI_Request request;
    MPI_Ibcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);   // HERE all
    MPI_Finalize();
    return 0;
}

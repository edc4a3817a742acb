// SPDX-License-Identifier: BSD-3-Clause
// A persistent request is not freed.
// ranks: 2
// expect: warning T08 ranks all
// env: TUTTI_DIAGNOSIS=full
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    MPI_Request request;
    MPI_Send_init(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);   // HERE all
    (void)rank;
    MPI_Finalize();
    return 0;
}

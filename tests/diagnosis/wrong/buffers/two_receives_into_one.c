// SPDX-License-Identifier: BSD-3-Clause
// Two receives into the same variable are active at the same time.
// ranks: 3
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank;
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);   // HERE 0
        MPI_Irecv(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &requests[1]);   // HERE 0
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

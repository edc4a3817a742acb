// SPDX-License-Identifier: BSD-3-Clause
// The buffers of two receives overlap by one element.
// ranks: 2
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int all[20] = {0};
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(all, 10, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);       // HERE 0
        MPI_Irecv(all + 9, 10, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);   // HERE 0
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Send(all, 10, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Send(all, 10, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

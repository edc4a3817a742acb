// SPDX-License-Identifier: BSD-3-Clause
// A variable is used for another purpose while a receive into it is active.
// ranks: 2 4
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double sum = 0;
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&sum, 1, MPI_DOUBLE, size - 1, 0, MPI_COMM_WORLD, &request);   // HERE 0
        for (int i = 1; i < 100; i++) sum += i;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);   // HERE 0
    } else {
        MPI_Request out;
        if (rank == size - 1) MPI_Isend(&sum, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &out);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1) MPI_Wait(&out, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}

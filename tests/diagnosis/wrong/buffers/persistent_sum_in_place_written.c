// SPDX-License-Identifier: BSD-3-Clause
// From the second step on, the vector is written while its persistent in-place sum is in progress.
// ranks: 2
// expect: T11 ranks 0
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double vector[3] = {0};
    MPI_Request request;
    MPI_Allreduce_init(MPI_IN_PLACE, vector, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int step = 0; step < 3; step++) {
        MPI_Start(&request);   // HERE 0
        if (rank == 0 && step > 0) vector[2] = step;
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
    }
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}

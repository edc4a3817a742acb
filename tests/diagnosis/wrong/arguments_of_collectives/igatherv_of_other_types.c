// SPDX-License-Identifier: BSD-3-Clause
// The last rank sends floats to a gather of ints, long before the root starts its call.
// ranks: 2 3
// expect: T04 ranks 0 last
// mpiexec: --check
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, out = 0, in[4], ones[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) usleep(50000);
    MPI_Datatype type = rank == size - 1 ? MPI_FLOAT : MPI_INT;
    MPI_Igatherv(&out, 1, type, in, ones, places, MPI_INT, 0, MPI_COMM_WORLD, &request);   // HERE 0 last
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

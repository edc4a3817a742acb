// SPDX-License-Identifier: BSD-3-Clause
// As in a library, a communicator is used for one allreduce only, in which the last rank passes another operator.
// ranks: 2 3 4 5
// expect: T04 ranks last
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, sum;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, rank == size - 1 ? MPI_MAX : MPI_SUM, comm);   // HERE 0-last
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// As in a library, a communicator is used for one broadcast only, in which the last rank passes another type. That rank
// receives and frees the communicator first; its neighbour, which calls later, must detect the error.
// ranks: 2 3 4 5
// expect: T04 ranks last
// expect nodes: T04 or T01 one of all
#include <mpi.h>
#include <stddef.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, number = 0;
    float other;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank > 0 && rank + 1 < size)
        MPI_Recv(NULL, 0, MPI_INT, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == size - 1) MPI_Bcast(&other, 1, MPI_FLOAT, 0, comm);   // HERE last
    else MPI_Bcast(&number, 1, MPI_INT, 0, comm);
    MPI_Comm_free(&comm);
    if (rank > 1) MPI_Send(NULL, 0, MPI_INT, rank - 1, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

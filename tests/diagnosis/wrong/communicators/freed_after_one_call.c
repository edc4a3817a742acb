// SPDX-License-Identifier: BSD-3-Clause
// As in a library: a communicator lives for one broadcast, in which the last rank names another type. It is the first
// to receive and to free the communicator: its neighbour, which comes later, has to find the difference.
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

// SPDX-License-Identifier: BSD-3-Clause
// All ranks receive from both neighbours but send only to the right.
// ranks: 3 4
// expect: T01 ranks all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = rank, halo[2], left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Request requests[3];
    MPI_Irecv(&halo[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&halo[1], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&mine, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);   // HERE all
    MPI_Finalize();
    return 0;
}

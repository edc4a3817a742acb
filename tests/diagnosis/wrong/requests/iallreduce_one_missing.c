// SPDX-License-Identifier: BSD-3-Clause
// The last rank does not call the nonblocking reduction and receives instead.
// ranks: 2 3
// expect: T01 ranks last
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = rank, sum = 0;
    MPI_Request request;
    if (rank == size - 1) {
        MPI_Recv(&sum, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE last
    } else {
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);   // HERE 0
        if (rank == 0) MPI_Send(&sum, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

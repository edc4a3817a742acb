// SPDX-License-Identifier: BSD-3-Clause
// All nonblocking collectives are active at the same time, and one rank starts them late.
// ranks: 2 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine[8] = {0}, out[6][8];
    MPI_Request requests[6];
    if (rank == 1) usleep(400000);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(out[1], 8, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Iallgather(mine, 1, MPI_INT, out[2], 1, MPI_INT, MPI_COMM_WORLD, &requests[2]);
    MPI_Ialltoall(mine, 1, MPI_INT, out[3], 1, MPI_INT, MPI_COMM_WORLD, &requests[3]);
    MPI_Iscan(mine, out[4], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[4]);
    MPI_Igather(mine, 1, MPI_INT, out[5], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[5]);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Collectives without data, in which no rank needs to wait for another.
// ranks: 2 4
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int none = 0;
    if (rank == 0) usleep(300000);
    MPI_Bcast(&none, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &none, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(&rank, 0, MPI_INT, &none, 0, MPI_INT, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

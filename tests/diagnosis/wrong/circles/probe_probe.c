// SPDX-License-Identifier: BSD-3-Clause
// Both ranks probe for a message before either has sent one.
// ranks: 2
// expect: T01 ranks 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = rank, count;
    MPI_Status status;
    MPI_Probe(1 - rank, 0, MPI_COMM_WORLD, &status);   // HERE 0-1
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Send(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(&x, count, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &status);
    MPI_Finalize();
    return 0;
}

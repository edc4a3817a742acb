// SPDX-License-Identifier: BSD-3-Clause
// Both ranks send the answer before the question.
// ranks: 2
// expect: T01 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[20] = "rank", other[20];
    MPI_Send(name, 20, MPI_CHAR, 1 - rank, 7, MPI_COMM_WORLD);   // HERE 0-1
    MPI_Probe(1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(other, 20, MPI_CHAR, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

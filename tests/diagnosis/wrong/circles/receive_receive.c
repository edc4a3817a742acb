// SPDX-License-Identifier: BSD-3-Clause
// Both ranks receive first, so neither reaches its send.
// ranks: 2 4
// whole: a typical program of students, compiled by mpicc
// says: receive_receive.c:15 in main()
// expect: T01 ranks 0-1 behind 2-3
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank < 2) {
        int mine = rank, other;
        MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);   // HERE 0-1
        MPI_Send(&mine, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 2-3
    MPI_Finalize();
    return 0;
}

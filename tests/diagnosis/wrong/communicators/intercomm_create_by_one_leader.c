// SPDX-License-Identifier: BSD-3-Clause
// Only one of the two groups creates the intercommunicator; the other one calls a barrier of all ranks.
// ranks: 2 4
// expect: T01 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int half = rank < size / 2;
    MPI_Comm own, both;
    MPI_Comm_split(MPI_COMM_WORLD, half, rank, &own);
    if (half) {
        MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, size / 2, 0, &both);   // HERE 0
        MPI_Comm_free(&both);
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE last
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}

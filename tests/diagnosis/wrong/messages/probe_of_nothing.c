// SPDX-License-Identifier: BSD-3-Clause
// The workers probe for a message that the master never sends.
// ranks: 2 5
// expect: T01 ranks 0
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0) {
        int length;
        MPI_Status status;
        MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);   // HERE 1-last
        MPI_Get_count(&status, MPI_CHAR, &length);
    }
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 0
    MPI_Finalize();
    return 0;
}

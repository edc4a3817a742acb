// SPDX-License-Identifier: BSD-3-Clause
// The root has finished early, and the others wait for its broadcast.
// ranks: 2 4
// expect: T03 or T05 one of 1-last
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int x = 0;
    if (rank == 0) {
        MPI_Finalize();   // HERE 0
        return 0;
    }
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);   // HERE 1-last
    MPI_Finalize();                                 // HERE 0
    return 0;
}

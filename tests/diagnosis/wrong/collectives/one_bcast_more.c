// SPDX-License-Identifier: BSD-3-Clause
// The root calls three broadcasts, the others two.
// ranks: 2 4
// expect: T03 ranks 0
// expect nodes: T03 or T05 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int parameters[3] = {1, 2, 3};
    for (int i = 0; i < (rank == 0 ? 3 : 2); i++) MPI_Bcast(&parameters[i], 1, MPI_INT, 0, MPI_COMM_WORLD);   // HERE 0
    MPI_Barrier(MPI_COMM_WORLD);   // HERE 1-last
    MPI_Finalize();
    return 0;
}

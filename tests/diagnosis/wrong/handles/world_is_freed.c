// SPDX-License-Identifier: BSD-3-Clause
// The program frees MPI_COMM_WORLD.
// ranks: 2
// expect: MPI_ERR_COMM one of 0-1
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm_free(&world);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

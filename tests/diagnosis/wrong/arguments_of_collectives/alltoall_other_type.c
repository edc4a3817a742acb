// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 sends and receives floats, the others ints of the same size.
// ranks: 2 3
// expect: T04 one of all
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int in[32] = {0}, out[32];
    MPI_Datatype type = rank == 0 ? MPI_FLOAT : MPI_INT;
    MPI_Alltoall(in, 4, type, out, 4, type, MPI_COMM_WORLD);   // HERE all
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// The root scatters ints, and the last rank receives floats.
// ranks: 2 3
// expect: T04 ranks last
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, out[4] = {0}, in, counts[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype const type = rank == size - 1 ? MPI_FLOAT : MPI_INT;
    MPI_Scatterv(out, counts, places, MPI_INT, &in, 1, type, 0, MPI_COMM_WORLD);   // HERE 0 last
    MPI_Finalize();
    return 0;
}

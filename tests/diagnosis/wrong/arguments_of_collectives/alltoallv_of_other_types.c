// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 sends floats to rank 0, which receives ints; the part that each rank sends to itself matches.
// ranks: 2 3
// expect: T04 ranks 0-1
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, out[4] = {0}, in[4], ones[4] = {1, 1, 1, 1}, places[4] = {0, 4, 8, 12};
    MPI_Datatype sent[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT}, expected[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 1) sent[0] = MPI_FLOAT;
    MPI_Alltoallw(out, ones, places, sent, in, ones, places, expected, MPI_COMM_WORLD);   // HERE 0-1
    MPI_Finalize();
    return 0;
}

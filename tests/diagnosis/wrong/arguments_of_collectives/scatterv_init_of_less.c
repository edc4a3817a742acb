// SPDX-License-Identifier: BSD-3-Clause
// The root of a persistent scatter sends less to the last rank than that rank receives; it is never started.
// ranks: 2 3
// expect: T04 ranks 0 last
// mpiexec: --check
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, out[4] = {0}, in[2], ones[4] = {1, 1, 1, 1}, at[4] = {0, 1, 2, 3};
    MPI_Request r;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const expected = rank == size - 1 ? 2 : 1;
    MPI_Info const none = MPI_INFO_NULL;
    MPI_Scatterv_init(out, ones, at, MPI_INT, in, expected, MPI_INT, 0, MPI_COMM_WORLD, none, &r);   // HERE 0 last
    MPI_Request_free(&r);
    MPI_Finalize();
    return 0;
}

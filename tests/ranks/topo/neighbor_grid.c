/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives on grids: data sent in the negative direction arrives from the positive side, also if both
 * neighbours are the same rank. Beyond the edge of a nonperiodic grid, nothing is sent and nothing is written. */
// ranks: 1 2 3 4 6 8
#include "tests/ranks/check.h"

#include <string.h>

enum { most = 6 };

static int rank, size;

/* Byte i of the block that `from` sends along its edge `edge` in call `turn`. */
static unsigned char value(int from, int edge, int turn, int i) {
    return (unsigned char)(from * 31 + edge * 7 + turn * 3 + i * 11 + (i >> 8) + 1);
}

/* As in the standard: in dimension d, block 2d is from the rank before, which has sent it in the positive direction. */
static void check_block(MPI_Comm comm, const unsigned char *got, int bytes, int k, int turn) {
    int before, behind;
    MPI_Cart_shift(comm, k / 2, 1, &before, &behind);
    int const from = k % 2 ? behind : before, edge = k % 2 ? k - 1 : k + 1;
    for (int i = 0; i < bytes; ++i) {
        int const want = from == MPI_PROC_NULL ? 0xee : value(from, edge, turn, i);
        CHECK(got[i] == want, "block %d of %d bytes from %d: byte %d is %d instead of %d", k, bytes, from, i, got[i],
              want);
    }
}

static void alltoall(MPI_Comm comm, int ndims, int bytes, int turn) {
    int const degree = 2 * ndims;
    unsigned char *const out = malloc((size_t)degree * bytes + 1), *const in = malloc((size_t)degree * bytes + 1);
    int me;
    MPI_Comm_rank(comm, &me);
    for (int k = 0; k < degree; ++k)
        for (int i = 0; i < bytes; ++i) out[k * bytes + i] = value(me, k, turn, i);
    memset(in, 0xee, (size_t)degree * bytes + 1);
    MPI_Neighbor_alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
    for (int k = 0; k < degree; ++k) check_block(comm, in + k * bytes, bytes, k, turn);
    CHECK(in[degree * bytes] == 0xee, "byte behind the blocks is %d", in[degree * bytes]);
    free(out);
    free(in);
}

static void grid(int ndims, int periodic) {
    static int const sizes[] = {0, 1, 8, 56, 500, 2048, 8191, 8192, 8193, 70000, 300000};
    int dims[3] = {0, 0, 0}, periods[3];
    MPI_Comm comm;
    MPI_Dims_create(size, ndims, dims);
    for (int d = 0; d < ndims; ++d) periods[d] = periodic == 2 ? d % 2 : periodic;
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm);
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); ++i)
        for (int turn = 0; turn < 3; ++turn) alltoall(comm, ndims, sizes[i], turn);
    for (int turn = 0; turn < 50; ++turn) alltoall(comm, ndims, 16, turn);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int ndims = 1; ndims <= 3; ++ndims)
        for (int periodic = 0; periodic < 3; ++periodic) grid(ndims, periodic);
    MPI_Finalize();
    return 0;
}

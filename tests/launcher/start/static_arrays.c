// SPDX-License-Identifier: BSD-3-Clause
// Transfers static arrays, which are outside of arenas, by Sendrecv, Bcast, Put and Get, with sizes below and above the
// threshold of each method, and checks the received data.
#include <mpi.h>
#include <stdio.h>

enum { most = 300000 };
static int out[most], in[most];

static int wrong(char const *what, int i, int found, int expected) {
    fprintf(stderr, "%s: element %d is %d instead of %d\n", what, i, found, expected);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}

static void fill(int rank, int n) {
    for (int i = 0; i < n; ++i) out[i] = 1000 * rank + i, in[i] = -1;
}

static void compare(char const *what, int from, int n, int const *found) {
    for (int i = 0; i < n; ++i)
        if (found[i] != 1000 * from + i) wrong(what, i, found[i], 1000 * from + i);
}

int main(int argc, char **argv) {
    int me, ranks;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int const to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
    int const sizes[] = {1, 1000, 20000, 100000, most};
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        int const n = sizes[k];
        fill(me, n);
        MPI_Sendrecv(out, n, MPI_INT, to, 1, in, n, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compare("Sendrecv", from, n, in);
        for (int root = 0; root < ranks; ++root) {
            fill(me, n);
            MPI_Bcast(out, n, MPI_INT, root, MPI_COMM_WORLD);
            compare("Bcast", root, n, out);
        }
    }
    fill(me, most);
    MPI_Win_create(out, sizeof out, sizeof *out, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Get(in, most, MPI_INT, to, 0, most, MPI_INT, win);
    MPI_Win_fence(0, win);
    compare("Get", to, most, in);
    MPI_Put(in, most, MPI_INT, from, 0, most, MPI_INT, win);
    MPI_Win_fence(0, win);
    compare("Put", (to + 1) % ranks, most, out);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

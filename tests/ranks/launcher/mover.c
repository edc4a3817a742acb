// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 2 3
// Moves 256 KiB by a broadcast, a ring of messages and an allreduce, between large heap blocks or, with the argument
// "static", static data. Checks the received data.
#include "tests/ranks/check.h"

#include <string.h>

enum { n = 32768 };
static double one[n], two[n];

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int const outside = argc > 1 && strcmp(argv[1], "static") == 0;
    double *a = outside ? one : malloc(sizeof one), *b = outside ? two : malloc(sizeof two);
    int me, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < n; ++i) a[i] = me == 0 ? i + round : -1, b[i] = -1;
        MPI_Bcast(a, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; i < n; ++i) CHECK(a[i] == i + round, "broadcast: element %d is %g", i, a[i]);
        for (int i = 0; i < n; ++i) a[i] += me;
        int const to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
        MPI_Sendrecv(a, n, MPI_DOUBLE, to, 1, b, n, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; ++i) CHECK(b[i] == i + round + from, "message: element %d is %g", i, b[i]);
        MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        double const ids = ranks * (ranks - 1) / 2.0;
        for (int i = 0; i < n; ++i) CHECK(b[i] == ranks * (i + round) + ids, "sum: element %d is %g", i, b[i]);
    }
    if (!outside) free(a), free(b);
    MPI_Finalize();
    return 0;
}

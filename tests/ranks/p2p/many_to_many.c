// SPDX-License-Identifier: BSD-3-Clause
// All ranks send to all ranks concurrently, in several sizes; messages are received in another order, some by
// wildcards.
// ranks: 4 9 16
// may warn: T12
#include "tests/ranks/check.h"

#include <string.h>

enum { rounds = 3, most = 30000 };
static const int sizes[rounds] = {1, 1000, most};

int main(int argc, char **argv) {
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Request *r = malloc(sizeof *r * 2 * (size_t)ranks);
    int *in = malloc(sizeof(int) * most * (size_t)ranks), *out = malloc(sizeof(int) * most * (size_t)ranks);
    for (int round = 0; round < rounds; ++round) {
        int n = sizes[round];
        for (int i = 0; i < ranks; ++i) {
            for (int k = 0; k < n; ++k) out[i * n + k] = me * 100 + i + k;
            MPI_Isend(out + i * n, n, MPI_INT, i, round, MPI_COMM_WORLD, &r[i]);
        }
        for (int i = 0; i < ranks; ++i) {
            int from = (me + i) % ranks;
            MPI_Irecv(in + from * n, n, MPI_INT, from, round % 2 ? MPI_ANY_TAG : round, MPI_COMM_WORLD, &r[ranks + i]);
        }
        MPI_Waitall(2 * ranks, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < ranks; ++i)
            for (int k = 0; k < n; ++k)
                CHECK(in[i * n + k] == i * 100 + me + k, "round %d: element %d from %d is %d", round, k, i,
                      in[i * n + k]);
        MPI_Barrier(MPI_COMM_WORLD);   // a wildcard of one round must not match a message of the next
    }
    for (int i = 0; i < ranks; ++i) MPI_Isend(&me, 1, MPI_INT, i, 50, MPI_COMM_WORLD, &r[i]);
    int *seen = calloc((size_t)ranks, sizeof *seen);
    for (int i = 0; i < ranks; ++i) {
        MPI_Status s;
        int value = -1;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &s);
        CHECK(value == s.MPI_SOURCE && !seen[value]++, "value %d from %d", value, s.MPI_SOURCE);
    }
    MPI_Waitall(ranks, r, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}

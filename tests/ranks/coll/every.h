/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and verifies one call of each of the seventeen collectives, numbered, with data that depends on rank and turn.
 * Up to eight ranks. */
#ifndef TUTTI_TESTS_EVERY_H
#define TUTTI_TESTS_EVERY_H

#include <string.h>

#include "tests/ranks/check.h"

enum { n = 700, operations = 17 };

static int rank, size, turn;

struct Work {
    int in[n * 8], out[n * 8], counts[8], displs[8];
    MPI_Datatype types[8];
    int byte_displs[8];
};

static int value(int from, int i) { return from * 1000 + i * 7 + 3 + turn; }
static int sum(int last, int i) {
    int total = 0;
    for (int r = 0; r <= last; ++r) total += value(r, i);
    return total;
}

static void prepare(struct Work *w) {
    for (int i = 0; i < n * size; ++i) {
        w->in[i] = value(rank, i);
        w->out[i] = -1;
    }
    for (int r = 0; r < size; ++r) {
        w->counts[r] = n - r;
        w->displs[r] = r * n;
        w->byte_displs[r] = r * n * (int)sizeof(int);
        w->types[r] = MPI_INT;
    }
}

static void expect_equal(int which, int at, int got, int expected) {
    CHECK(got == expected, "operation %d, element %d: %d instead of %d", which, at, got, expected);
}

static void verify(int which, struct Work const *w, int root) {
    int before = 0;
    for (int r = 0; r < rank; ++r) before += n - r;
    switch (which) {
    case 1:
        for (int i = 0; i < n; ++i) expect_equal(which, i, w->out[i], value(root, i));
        break;
    case 2: case 3: case 6: case 7:
        if (which < 4 && rank != root) break;
        for (int r = 0; r < size; ++r)
            for (int i = 0; i < (which % 2 ? n - r : n); ++i) expect_equal(which, i, w->out[r * n + i], value(r, i));
        break;
    case 4: case 5:
        for (int i = 0; i < (which == 5 ? n - rank : n); ++i)
            expect_equal(which, i, w->out[i], value(root, rank * n + i));
        break;
    case 8: case 9: case 10:
        for (int r = 0; r < size; ++r)
            for (int i = 0; i < (which == 8 ? n : n - rank - r); ++i)
                expect_equal(which, i, w->out[r * n + i], value(r, rank * n + i));
        break;
    case 11: case 12:
        if (which == 11 && rank != root) break;
        for (int i = 0; i < n; ++i) expect_equal(which, i, w->out[i], sum(size - 1, i));
        break;
    case 13:
        for (int i = 0; i < n - rank; ++i) expect_equal(which, i, w->out[i], sum(size - 1, before + i));
        break;
    case 14:
        for (int i = 0; i < n; ++i) expect_equal(which, i, w->out[i], sum(size - 1, rank * n + i));
        break;
    case 15:
        for (int i = 0; i < n; ++i) expect_equal(which, i, w->out[i], sum(rank, i));
        break;
    case 16:
        for (int i = 0; rank > 0 && i < n; ++i) expect_equal(which, i, w->out[i], sum(rank - 1, i));
        break;
    }
}

#endif

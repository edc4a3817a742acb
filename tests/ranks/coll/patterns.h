/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, datatypes, and data that each rank can compute, for the programs in this folder. */
#ifndef TUTTI_TESTS_PATTERNS_H
#define TUTTI_TESTS_PATTERNS_H

#include "tests/ranks/check.h"

#include <string.h>

/* The k-th value that rank `from` sends to rank `to`. */
static inline int pattern(int from, int to, int k) { return 1 + (from * 131 + to * 17 + k * 7) % 1009; }

/* A buffer of n ints, each followed by `gap` ints that must not be written (−1). */
static inline int *filled(int n, int gap) {
    int *b = malloc(sizeof(int) * (size_t)(n * (1 + gap) + 1));
    CHECK(b != NULL, "no memory");
    for (int i = 0; i <= n * (1 + gap); ++i) b[i] = -1;
    return b;
}

/* MPI_INT, or an int followed by a gap of `gap` ints. */
static inline MPI_Datatype spaced_int(int gap) {
    MPI_Datatype t;
    if (gap == 0) MPI_Type_contiguous(1, MPI_INT, &t);
    else MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * (1 + gap), &t);
    MPI_Type_commit(&t);
    return t;
}

static inline void check_filled(const int *b, int at, int n, int gap, int from, int to, const char *what, int root) {
    for (int k = 0; k < n; ++k) {
        int got = b[(at + k) * (1 + gap)];
        CHECK(got == pattern(from, to, k), "%s, root %d, %d elements, gap %d: from %d to %d element %d is %d", what,
              root, n, gap, from, to, k, got);
        for (int g = 1; g <= gap; ++g)
            CHECK(b[(at + k) * (1 + gap) + g] == -1, "%s: the gap after element %d was written", what, k);
    }
}

/* Calls `body` with the world, its halves (the second one in reverse order) and communicators of one rank. */
static inline void for_communicators(void (*body)(MPI_Comm)) {
    int rank, size;
    MPI_Comm half, alone;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    body(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank < size / 2 ? rank : -rank, &half);
    body(half);
    MPI_Comm_free(&half);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : rank, 0, &alone);
    if (alone != MPI_COMM_NULL) {
        body(alone);
        MPI_Comm_free(&alone);
    }
    body(MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif

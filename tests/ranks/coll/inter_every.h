/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and verifies one call of each collective on an intercommunicator, in any of its three forms. Data depends on
 * the world ranks at both ends, the element and the turn. Up to eight ranks. */
#ifndef TUTTI_TESTS_INTER_EVERY_H
#define TUTTI_TESTS_INTER_EVERY_H

#include <string.h>

#include "../comm/inter.h"

enum { operations = 18, most = 8 };
enum form { blocking, nonblocking, persistent };

static int rank, size, turn;
static MPI_Datatype pair;   /* a map x -> a x + b on unsigned numbers */
static MPI_Op compose;      /* composition of such maps: associative, not commutative */

static void compose_maps(void *in, void *inout, int *length, MPI_Datatype *type) {
    unsigned *a = in, *b = inout;
    for (int i = 0; i < 2 * *length; i += 2) {
        b[i + 1] = a[i] * b[i + 1] + a[i + 1];
        b[i] *= a[i];
    }
}

static void begin_tests(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose_maps, 0, &compose);
}
static void end_tests(void) {
    MPI_Type_free(&pair);
    MPI_Op_free(&compose);
    MPI_Finalize();
}

/* The two groups of an intercommunicator. */
struct Sides {
    MPI_Comm comm;
    int me, locals, remotes, remote[most];   /* world ranks */
};

static struct Sides sides_of(MPI_Comm inter) {
    struct Sides s = {.comm = inter};
    int ranks[most];
    MPI_Group others, world;
    MPI_Comm_rank(inter, &s.me);
    MPI_Comm_size(inter, &s.locals);
    MPI_Comm_remote_size(inter, &s.remotes);
    for (int i = 0; i < s.remotes; ++i) ranks[i] = i;
    MPI_Comm_remote_group(inter, &others);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(others, s.remotes, ranks, world, s.remote);
    MPI_Group_free(&others);
    MPI_Group_free(&world);
    return s;
}

/* The buffers of a call: `n` elements for each pair of ranks, and `room` elements in total. */
struct Work {
    int n, room, *in, *out;
    int counts[most], displs[most], shares[most];
    int byte_displs[most];
    MPI_Datatype types[most];
};

static int value(int from, int i) { return from * 1000 + i * 7 + 3 + turn; }
/* Counts of the v variants: one third, two thirds or all of n. */
static int part(int n, int r) { return n * (1 + r % 3) / 3; }

static struct Work *prepare(struct Sides const *s, int n) {
    struct Work *w = malloc(sizeof *w);
    int const blocks = s->locals * s->remotes > size ? s->locals * s->remotes : size;
    int const room = w->room = n * blocks + most * most / 2;
    w->n = n;
    w->in = malloc((size_t)room * sizeof(int));
    w->out = malloc((size_t)room * sizeof(int));
    for (int i = 0; i < room; ++i) {
        w->in[i] = value(rank, i);
        w->out[i] = -1;
    }
    for (int r = 0; r < s->remotes; ++r) {
        w->counts[r] = part(n, r);
        w->displs[r] = r * n;
        w->byte_displs[r] = r * n * (int)sizeof(int);
        w->types[r] = MPI_INT;
    }
    for (int r = 0; r < s->locals; ++r) {   /* two neighbours have different shares */
        w->shares[r] = n * s->remotes;
        if ((r ^ 1) < s->locals) w->shares[r] += r % 2 ? -n / 2 : n / 2;
    }
    return w;
}
static void discard(struct Work *w) {
    free(w->in);
    free(w->out);
    free(w);
}

/* The root argument, where `root` is a rank of the local group if `ours`, and of the remote group otherwise. */
static int root_argument(struct Sides const *s, int ours, int root) {
    return !ours ? root : s->me == root ? MPI_ROOT : MPI_PROC_NULL;
}

#define THREE(name, nonblocking_name, ...)                                                     \
    do {                                                                                       \
        if (form == blocking) MPI_##name(__VA_ARGS__);                                         \
        else if (form == nonblocking) MPI_##nonblocking_name(__VA_ARGS__, &request);           \
        else MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request);                          \
    } while (0)

static MPI_Request call(enum form form, int which, struct Sides const *s, struct Work *w, int ours, int at) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm const comm = s->comm;
    int const n = w->n, mine = part(n, s->me);
    int const root = root_argument(s, ours, at), gives = !ours, gets = root == MPI_ROOT;
    void *const in = gives ? w->in : NULL, *const out = gets ? w->out : NULL;
    int const k = gives || gets ? n : -7;   /* an invalid count must be ignored if it is not significant */
    switch (which) {
    case 0: THREE(Barrier, Ibarrier, comm); break;
    case 1: THREE(Bcast, Ibcast, gets ? (void *)w->in : gives ? (void *)w->out : NULL, k, MPI_INT, root, comm); break;
    case 2: THREE(Gather, Igather, in, k, MPI_INT, out, k, MPI_INT, root, comm); break;
    case 3: THREE(Gatherv, Igatherv, in, mine, MPI_INT, out, w->counts, w->displs, MPI_INT, root, comm); break;
    case 4:
        THREE(Scatter, Iscatter, gets ? w->in : NULL, k, MPI_INT, gives ? w->out : NULL, k, MPI_INT, root, comm);
        break;
    case 5:
        THREE(Scatterv, Iscatterv, gets ? w->in : NULL, w->counts, w->displs, MPI_INT, gives ? w->out : NULL, mine,
              MPI_INT, root, comm);
        break;
    case 6: THREE(Allgather, Iallgather, w->in, n, MPI_INT, w->out, n, MPI_INT, comm); break;
    case 7: THREE(Allgatherv, Iallgatherv, w->in, mine, MPI_INT, w->out, w->counts, w->displs, MPI_INT, comm); break;
    case 8: THREE(Alltoall, Ialltoall, w->in, n, MPI_INT, w->out, n, MPI_INT, comm); break;
    case 9: case 10:
        for (int r = 0; r < s->remotes; ++r) w->counts[r] = part(n, r + s->me);
        if (which == 9)
            THREE(Alltoallv, Ialltoallv, w->in, w->counts, w->displs, MPI_INT, w->out, w->counts, w->displs, MPI_INT,
                  comm);
        else
            THREE(Alltoallw, Ialltoallw, w->in, w->counts, w->byte_displs, w->types, w->out, w->counts, w->byte_displs,
                  w->types, comm);
        break;
    case 11: THREE(Reduce, Ireduce, in, out, k, MPI_INT, MPI_SUM, root, comm); break;
    case 12: THREE(Allreduce, Iallreduce, w->in, w->out, n, MPI_INT, MPI_SUM, comm); break;
    case 13: THREE(Reduce_scatter, Ireduce_scatter, w->in, w->out, w->shares, MPI_INT, MPI_SUM, comm); break;
    case 14:
        THREE(Reduce_scatter_block, Ireduce_scatter_block, w->in, w->out, n * s->remotes, MPI_INT, MPI_SUM, comm);
        break;
    case 15: THREE(Reduce, Ireduce, in, out, k, pair, compose, root, comm); break;
    case 16: THREE(Allreduce, Iallreduce, w->in, w->out, n, pair, compose, comm); break;
    case 17: THREE(Reduce_scatter_block, Ireduce_scatter_block, w->in, w->out, s->remotes, pair, compose, comm); break;
    }
    return request;
}

static void expect_equal(int which, int at, int got, int expected) {
    CHECK(got == expected, "operation %d, element %d: %d instead of %d", which, at, got, expected);
}
static int sum(struct Sides const *s, int i) {
    int total = 0;
    for (int r = 0; r < s->remotes; ++r) total += value(s->remote[r], i);
    return total;
}
/* Checks elements 2i and 2i + 1 of all remote operands, composed in rank order. */
static void composed(int which, struct Sides const *s, struct Work const *w, int at, int i) {
    unsigned a = 1, b = 0;
    for (int r = 0; r < s->remotes; ++r) {
        b += a * (unsigned)value(s->remote[r], 2 * i + 1);
        a *= (unsigned)value(s->remote[r], 2 * i);
    }
    expect_equal(which, 2 * at, w->out[2 * at], (int)a);
    expect_equal(which, 2 * at + 1, w->out[2 * at + 1], (int)b);
}

static void verify(int which, struct Sides const *s, struct Work const *w, int ours, int at) {
    int const n = w->n, gets = ours && s->me == at, source = ours ? -1 : s->remote[at], mine = part(n, s->me);
    int written = 0, before = 0;   /* only the first `written` elements of `out` may differ from −1 */
    for (int r = 0; r < s->me; ++r) before += w->shares[r];
    switch (which) {
    case 1:
        written = ours ? 0 : n;
        for (int i = 0; i < written; ++i) expect_equal(which, i, w->out[i], value(source, i));
        break;
    case 2: case 3: case 6: case 7:
        if (which < 4 && !gets) break;
        written = n * s->remotes;
        for (int r = 0; r < s->remotes; ++r)
            for (int i = 0; i < n; ++i)
                expect_equal(which, i, w->out[r * n + i],
                             i < (which % 2 ? part(n, r) : n) ? value(s->remote[r], i) : -1);
        break;
    case 4: case 5:
        written = ours ? 0 : which == 5 ? mine : n;
        for (int i = 0; i < written; ++i) expect_equal(which, i, w->out[i], value(source, s->me * n + i));
        break;
    case 8: case 9: case 10:
        written = n * s->remotes;
        for (int r = 0; r < s->remotes; ++r)
            for (int i = 0; i < n; ++i)
                expect_equal(which, i, w->out[r * n + i],
                     i < (which == 8 ? n : part(n, r + s->me)) ? value(s->remote[r], s->me * n + i) : -1);
        break;
    case 11: case 12:
        written = which == 12 || gets ? n : 0;
        for (int i = 0; i < written; ++i) expect_equal(which, i, w->out[i], sum(s, i));
        break;
    case 13: case 14:
        written = which == 13 ? w->shares[s->me] : n * s->remotes;
        if (which == 14) before = s->me * n * s->remotes;
        for (int i = 0; i < written; ++i) expect_equal(which, i, w->out[i], sum(s, before + i));
        break;
    case 15: case 16:
        written = which == 16 || gets ? 2 * n : 0;
        for (int i = 0; 2 * i < written; ++i) composed(which, s, w, i, i);
        break;
    case 17:
        written = 2 * s->remotes;
        for (int i = 0; 2 * i < written; ++i) composed(which, s, w, i, s->me * s->remotes + i);
        break;
    }
    for (int i = written; i < w->room; ++i) expect_equal(which, i, w->out[i], -1);
    for (int i = 0; i < w->room; ++i) expect_equal(which, i, w->in[i], value(rank, i));
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Each accumulate call on each type of value and index pairs, in windows of all flavors: single elements, many
 * elements, and derived datatypes. Bytes between the members of a pair, and between pairs, are unchanged. */
// ranks: 1 2 3
// run of_owner: 2 3 TUTTI_ARENA=no TUTTI_CMA=no TUTTI_XPMEM=no
// run by_kernel: 2 few TUTTI_ARENA=no TUTTI_XPMEM=no
#include <stddef.h>

#include "tests/ranks/comm/node.h"

enum { most = 22000, gap = 0x55 };

/* The layout of a pair, and a function that sets its members from ints. */
typedef struct {
    const char *name;
    MPI_Datatype type;
    size_t extent, index, value_bytes, index_bytes;
    void (*set)(void *pair, int value, int index);
} Kind;

#define PAIR(NAME, VALUE, INDEX)                                       \
    typedef struct {                                                   \
        VALUE value;                                                   \
        INDEX index;                                                   \
    } NAME;                                                            \
    static void set_##NAME(void *pair, int value, int index) {         \
        VALUE const v = (VALUE)value;                                  \
        INDEX const i = (INDEX)index;                                  \
        memcpy(pair, &v, sizeof v);                                    \
        memcpy((char *)pair + offsetof(NAME, index), &i, sizeof i);    \
    }
PAIR(FloatInt, float, int)
PAIR(DoubleInt, double, int)
PAIR(LongInt, long, int)
PAIR(TwoInt, int, int)
PAIR(ShortInt, short, int)
PAIR(LongDoubleInt, long double, int)
PAIR(TwoReal, float, float)
PAIR(TwoDouble, double, double)

#define KIND(TYPE, NAME, VALUE, INDEX) \
    { #TYPE, TYPE, sizeof(NAME), offsetof(NAME, index), sizeof(VALUE), sizeof(INDEX), set_##NAME }

static int rank, size, to;
static int few;          /* argument: fewer calls with many elements, each of which makes system calls */
static int every = 1, turn;   /* only one in `every` calls is made, a different one for each kind, layout and window */
static MPI_Win window;
static char *mine;       /* this rank's part of the window */
static MPI_Aint origin;  /* displacement of the target's first byte */
static int unit;         /* of displacements, in bytes */
static char *in, *old, *expected, *expected_old;

/* `count` elements of `type`; consecutive pairs are `stride` pairs apart. */
typedef struct {
    const char *name;
    MPI_Datatype type;
    int count, stride;
} Layout;

/* The old value of the target's i-th pair, the origin's value, and the result of the operator. */
static int value_before(int i) { return i % 7; }
static int index_before(int i) { return i % 3 + 2; }
static int value_given(int i) { return (i + 3) % 5 + i % 2; }
static int index_given(int i) { return i % 4 + 1; }

static void combined(MPI_Op op, int i, int *value, int *index) {
    int const v = value_before(i), k = index_before(i), w = value_given(i), l = index_given(i);
    int const given = op == MPI_REPLACE || (op == MPI_MAXLOC && (w > v || (w == v && l < k))) ||
                      (op == MPI_MINLOC && (w < v || (w == v && l < k)));
    *value = given ? w : v;
    *index = given ? l : k;
}

/* A long double has padding bytes. */
static size_t value_bytes_of(size_t bytes) { return bytes == sizeof(long double) ? 10 : bytes; }

static int same_pairs(const Kind *k, const char *a, const char *b, size_t bytes) {
    if (k->value_bytes != sizeof(long double)) return memcmp(a, b, bytes) == 0;
    for (size_t i = 0; i < bytes; i += k->extent)
        if (memcmp(a + i, b + i, value_bytes_of(k->value_bytes)) ||
            memcmp(a + i + k->value_bytes, b + i + k->value_bytes, k->extent - k->value_bytes))
            return 0;
    return 1;
}

enum { accumulate, raccumulate, get_accumulate, rget_accumulate, fetch_and_op, calls };
static const char *const call_names[] = {"MPI_Accumulate", "MPI_Raccumulate", "MPI_Get_accumulate",
                                         "MPI_Rget_accumulate", "MPI_Fetch_and_op"};

static void call(int which, Layout here, Layout there, MPI_Aint disp, MPI_Op op) {
    MPI_Request request = MPI_REQUEST_NULL;
    switch (which) {
    case accumulate: MPI_Accumulate(in, here.count, here.type, to, disp, there.count, there.type, op, window); break;
    case raccumulate:
        MPI_Raccumulate(in, here.count, here.type, to, disp, there.count, there.type, op, window, &request);
        break;
    case get_accumulate:
        MPI_Get_accumulate(in, here.count, here.type, old, here.count, here.type, to, disp, there.count, there.type, op,
                           window);
        break;
    case rget_accumulate:
        MPI_Rget_accumulate(in, here.count, here.type, old, here.count, here.type, to, disp, there.count, there.type,
                            op, window, &request);
        break;
    case fetch_and_op: MPI_Fetch_and_op(in, old, there.type, to, disp, op, window); break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void one_call(const Kind *k, int which, Layout here, Layout there, int pairs, MPI_Op op) {
    if (turn++ % every) return;
    int const fetches = which >= get_accumulate;
    size_t const here_bytes = (size_t)pairs * here.stride * k->extent,
                 there_bytes = (size_t)pairs * there.stride * k->extent;
    memset(mine, gap, there_bytes);
    memset(expected, gap, there_bytes);
    memset(in, gap, here_bytes);
    memset(old, gap, here_bytes);
    memset(expected_old, gap, here_bytes);
    for (int i = 0; i < pairs; ++i) {
        int value, index;
        combined(op, i, &value, &index);
        k->set(mine + i * there.stride * k->extent, value_before(i), index_before(i));
        k->set(expected + i * there.stride * k->extent, value, index);
        k->set(in + i * here.stride * k->extent, value_given(i), index_given(i));
        if (fetches) k->set(expected_old + i * here.stride * k->extent, value_before(i), index_before(i));
    }
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    call(which, here, there, origin / unit, op);
    MPI_Win_flush(to, window);
    CHECK(same_pairs(k, old, expected_old, here_bytes), "%s of %d %s: the fetched data is wrong, from %s to %s",
          call_names[which], pairs, k->name, there.name, here.name);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    CHECK(same_pairs(k, mine, expected, there_bytes), "%s of %d %s: the target is wrong, from %s to %s",
          call_names[which], pairs, k->name, here.name, there.name);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_calls(const Kind *k, Layout here, Layout there, int pairs) {
    for (int which = 0; which < calls; ++which) {
        if (which == fetch_and_op && (pairs != 1 || there.type != k->type || here.type != k->type)) continue;
        one_call(k, which, here, there, pairs, MPI_MAXLOC);
        if (pairs == most) continue;
        one_call(k, which, here, there, pairs, MPI_MINLOC);
        one_call(k, which, here, there, pairs, MPI_REPLACE);
        if (which >= get_accumulate) one_call(k, which, here, there, pairs, MPI_NO_OP);
    }
}

static void all_layouts(const Kind *k, int pairs) {
    MPI_Datatype row, every_second, listed, structure;
    int *const ones = malloc(sizeof *ones * (size_t)pairs), *const places = malloc(sizeof *places * (size_t)pairs);
    for (int i = 0; i < pairs; ++i) ones[i] = 1, places[i] = i;
    MPI_Type_contiguous(pairs, k->type, &row);
    MPI_Type_vector(pairs, 1, 2, k->type, &every_second);
    MPI_Type_indexed(pairs, ones, places, k->type, &listed);
    int const one = 1;
    MPI_Aint const nowhere = 0;
    MPI_Type_create_struct(1, &one, &nowhere, &listed, &structure);
    Layout const layouts[] = {{"pairs", k->type, pairs, 1},
                              {"a contiguous type", row, 1, 1},
                              {"a vector", every_second, 1, 2},
                              {"an indexed type", listed, 1, 1},
                              {"a structure", structure, 1, 1}};
    int const all = sizeof layouts / sizeof layouts[0];
    MPI_Type_commit(&row);
    MPI_Type_commit(&every_second);
    MPI_Type_commit(&listed);
    MPI_Type_commit(&structure);
    for (int i = 0; i < all; ++i) {
        if (pairs == most && i != 2) continue;
        all_calls(k, layouts[i], layouts[i], pairs);
        if (i == 0 || pairs == most) continue;
        all_calls(k, layouts[0], layouts[i], pairs);
        all_calls(k, layouts[i], layouts[0], pairs);
    }
    MPI_Type_free(&row);
    MPI_Type_free(&every_second);
    MPI_Type_free(&listed);
    MPI_Type_free(&structure);
    free(ones);
    free(places);
}

static void all_kinds(void) {
    Kind const kinds[] = {KIND(MPI_FLOAT_INT, FloatInt, float, int),
                          KIND(MPI_DOUBLE_INT, DoubleInt, double, int),
                          KIND(MPI_LONG_INT, LongInt, long, int),
                          KIND(MPI_2INT, TwoInt, int, int),
                          KIND(MPI_SHORT_INT, ShortInt, short, int),
                          KIND(MPI_LONG_DOUBLE_INT, LongDoubleInt, long double, int),
                          KIND(MPI_2REAL, TwoReal, float, float),
                          KIND(MPI_2DOUBLE_PRECISION, TwoDouble, double, double),
                          KIND(MPI_2INTEGER, TwoInt, int, int)};
    MPI_Win_lock_all(0, window);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        all_layouts(&kinds[k], 1);
        all_layouts(&kinds[k], 3);
        int const has_hole = kinds[k].index != kinds[k].value_bytes;
        if (has_hole || !few) all_layouts(&kinds[k], 520);   /* more than a page */
        if (has_hole && !few) all_layouts(&kinds[k], most);  /* several messages */
    }
    MPI_Win_unlock_all(window);
}

static void use_window(MPI_Win made, void *base, int disp_unit, MPI_Aint first) {
    window = made;
    mine = base;
    unit = disp_unit;
    origin = first;
    all_kinds();
    MPI_Win_free(&window);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    few = argc > 1 && strcmp(argv[1], "few") == 0;
    int const one_node = is_single_node();
    if (!one_node) every = 3;
    size_t const bytes = 2 * most * sizeof(LongDoubleInt);
    in = malloc(bytes), old = malloc(bytes), expected = malloc(bytes), expected_old = malloc(bytes);
    to = (rank + 1) % size;
    char *base, *const memory = malloc(bytes);
    MPI_Win made;
    MPI_Win_create(memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
    use_window(made, memory, 1, 0);
    MPI_Win_allocate((MPI_Aint)bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
    use_window(made, base, 8, 0);
    if (one_node) {
        MPI_Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
        use_window(made, base, 1, 0);
    }
    MPI_Aint own, first;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &made);
    MPI_Win_attach(made, memory, (MPI_Aint)bytes);
    MPI_Get_address(memory, &own);
    MPI_Sendrecv(&own, 1, MPI_AINT, (rank + size - 1) % size, 0, &first, 1, MPI_AINT, to, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    use_window(made, memory, 1, first);
    free(memory), free(in), free(old), free(expected), free(expected_old);
    MPI_Finalize();
    return 0;
}

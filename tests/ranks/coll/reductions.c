// SPDX-License-Identifier: BSD-3-Clause
// Reduce, allreduce, reduce_scatter(_block), scan and exscan: built-in operators, value and index pairs, noncommutative
// user-defined operators on user-defined types, sizes around each algorithm threshold, all roots, in place, and on
// several communicators.
// ranks: 1 2 3 4 8
// run blocks: 2 3 5
// run blocks: TUTTI_COLL=reduce=blocks,allreduce=blocks,reduce_scatter=blocks:chunk=1K,scan=chain:chunk=1K,exscan=chain
// run levels: 2 3 5 TUTTI_TOPOLOGY="socket:2 numa:2 core:2" TUTTI_COLL=reduce=hierarchical,allreduce=hierarchical
#include "tests/ranks/coll/patterns.h"

static const int sizes[] = {0, 1, 7, 100, 1024, 1025, 9000, 50000};
enum { n_sizes = sizeof sizes / sizeof *sizes };

/* An affine map x -> a·x + b on unsigned numbers; the user-defined type has a gap between a and b. */
struct map { unsigned a, gap, b; };
struct place { double value; int index; };

static MPI_Comm comm;
static int rank, size, n;
static MPI_Datatype map_type, gappy_map_type;
static MPI_Op then;

static void then_maps(void *in, void *inout, int *len, MPI_Datatype *type) {
    struct map *first = in, *second = inout;
    CHECK(*type == map_type || *type == gappy_map_type, "the operator gets another type: %x", (unsigned)*type);
    for (int i = 0; i < *len; ++i) {
        second[i].b += second[i].a * first[i].b;
        second[i].a *= first[i].a;
    }
}

/* The k-th value of rank r, and the reduction of the k-th values of ranks 0 to last. */
static double value(int r, int k) { return (r * 5 + k) % 11 - 3; }
static struct map map_of(int r, int k) {
    return (struct map){2 * (unsigned)((r + k) % 5) + 1, 77, (unsigned)(r * 3 + k)};
}
static struct place place_of(int r, int k) { return (struct place){(r * 7 + k) % 4, r}; }

static double sum_to(int last, int k) {
    double s = 0;
    for (int r = 0; r <= last; ++r) s += value(r, k);
    return s;
}
static struct map maps_to(int last, int k) {
    struct map m = map_of(0, k);
    for (int r = 1; r <= last; ++r) {
        struct map next = map_of(r, k);
        m = (struct map){next.a * m.a, 0, next.b + next.a * m.b};
    }
    return m;
}
static struct place least_to(int last, int k) {
    struct place p = place_of(0, k);
    for (int r = 1; r <= last; ++r)
        if (place_of(r, k).value < p.value) p = place_of(r, k);
    return p;
}

/* One kind of data: elements of `bytes` bytes, and functions that make and compare them. */
struct sort {
    const char *name;
    size_t bytes;
    MPI_Datatype type;
    MPI_Op op;
    void (*make)(void *at, int r, int k);
    int (*same)(const void *at, int last, int k);
};
static void make_double(void *at, int r, int k) { *(double *)at = value(r, k); }
static int same_double(const void *at, int last, int k) { return *(const double *)at == sum_to(last, k); }
static void make_place(void *at, int r, int k) { *(struct place *)at = place_of(r, k); }
static int same_place(const void *at, int last, int k) {
    struct place p = least_to(last, k);
    return ((const struct place *)at)->value == p.value && ((const struct place *)at)->index == p.index;
}
static void make_map(void *at, int r, int k) { *(struct map *)at = map_of(r, k); }
static int same_map(const void *at, int last, int k) {
    struct map m = maps_to(last, k);
    return ((const struct map *)at)->a == m.a && ((const struct map *)at)->b == m.b;
}

static char *operands(const struct sort *s, int count) {
    char *b = malloc(s->bytes * (size_t)count + 1);
    CHECK(b != NULL, "no memory");
    for (int k = 0; k < count; ++k) s->make(b + (size_t)k * s->bytes, rank, k);
    return b;
}

static void check(const struct sort *s, const char *b, int count, int first, int last, const char *call, int root) {
    for (int k = 0; k < count; ++k)
        CHECK(s->same(b + (size_t)k * s->bytes, last, first + k), "%s of %d %s, root %d: element %d of ranks up to %d",
              call, n, s->name, root, k, last);
}

static void rooted(const struct sort *s, int in_place) {
    for (int root = 0; root < size; ++root) {
        char *in = operands(s, n), *out = operands(s, n);
        MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : in, rank == root ? out : NULL, n, s->type, s->op, root,
                   comm);
        if (rank == root) check(s, out, n, 0, size - 1, "Reduce", root);
        free(in), free(out);
    }
}

static void to_all(const struct sort *s, int in_place) {
    char *in = operands(s, n), *out = operands(s, n);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, s->type, s->op, comm);
    check(s, out, n, 0, size - 1, "Allreduce", -1);
    free(out);
    out = operands(s, n);
    MPI_Scan(in_place ? MPI_IN_PLACE : in, out, n, s->type, s->op, comm);
    check(s, out, n, 0, rank, "Scan", -1);
    free(out);
    out = operands(s, n);
    MPI_Exscan(in_place ? MPI_IN_PLACE : in, out, n, s->type, s->op, comm);
    check(s, out, n, 0, rank == 0 ? 0 : rank - 1, "Exscan", -1);   // rank 0 keeps its old contents
    free(out), free(in);
}

static void shares(const struct sort *s, int in_place) {
    int counts[64], total = 0, first = 0;
    for (int i = 0; i < size; ++i) {
        counts[i] = n * (i % 3) / 2;
        first += i < rank ? counts[i] : 0;
        total += counts[i];
    }
    char *in = operands(s, total), *out = operands(s, total);
    MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : in, out, counts, s->type, s->op, comm);
    check(s, out, counts[rank], first, size - 1, "Reduce_scatter", -1);
    free(in), free(out);

    in = operands(s, n * size), out = operands(s, n * size);
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : in, out, n, s->type, s->op, comm);
    check(s, out, n, rank * n, size - 1, "Reduce_scatter_block", -1);
    free(in), free(out);
}

static void all_on(MPI_Comm c) {
    const struct sort sorts[] = {
        {"doubles", sizeof(double), MPI_DOUBLE, MPI_SUM, make_double, same_double},
        {"places", sizeof(struct place), MPI_DOUBLE_INT, MPI_MINLOC, make_place, same_place},
        {"maps", sizeof(struct map), gappy_map_type, then, make_map, same_map},
    };
    comm = c;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < n_sizes; ++i) {
        n = sizes[i];
        if (n * size > 100000) continue;
        for (int s = 0; s < 3; ++s) {
            for (int in_place = 0; in_place < 2; ++in_place) {
                rooted(&sorts[s], in_place);
                to_all(&sorts[s], in_place);
                shares(&sorts[s], in_place);
            }
        }
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Aint displacements[] = {0, 8};
    int blocks[] = {1, 1};
    MPI_Datatype types[] = {MPI_UNSIGNED, MPI_UNSIGNED};
    MPI_Type_create_struct(2, blocks, displacements, types, &map_type);
    MPI_Type_create_resized(map_type, 0, sizeof(struct map), &gappy_map_type);
    MPI_Type_commit(&gappy_map_type);
    MPI_Op_create(then_maps, 0, &then);
    for_communicators(all_on);
    MPI_Op_free(&then);
    MPI_Type_free(&map_type);
    MPI_Type_free(&gappy_map_type);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Cheetah with one level (P2P), two (UMA, P2P) and three (Socket, UMA, P2P): blocking, nonblocking and persistent
// reductions, broadcasts and barriers, with operators that commute and one that does not.
// ranks: 4 16
// run flat: 16 TUTTI_COLL_ALLREDUCE=cheetah:hierarchy=flat TUTTI_COLL_BCAST=cheetah:hierarchy=flat
// run flat: TUTTI_COLL_BARRIER=cheetah:hierarchy=flat TUTTI_COLL_REDUCE=cheetah:hierarchy=flat
// run node: 4 16 TUTTI_COLL_ALLREDUCE=cheetah:hierarchy=node TUTTI_COLL_BCAST=cheetah:hierarchy=node
// run node: TUTTI_COLL_BARRIER=cheetah:hierarchy=node TUTTI_COLL_REDUCE=cheetah:hierarchy=node
// run socket: 16 TUTTI_COLL_ALLREDUCE=cheetah:hierarchy=socket+node TUTTI_COLL_BCAST=cheetah:hierarchy=socket+node
// run socket: TUTTI_COLL_BARRIER=cheetah:hierarchy=socket+node TUTTI_COLL_REDUCE=cheetah:hierarchy=socket+node
// run socket: TUTTI_TOPOLOGY="socket:2 core:4"
// run k_ing: 4 16 TUTTI_COLL=allreduce=recursive_k_ing:k=3,fragment=4K
#include "tests/ranks/check.h"

#include <string.h>

enum { most = 50000 };

static int rank, size;
static int in[most], out[most];

/* Composition of affine maps x -> a·x + b, two numbers each. */
static void then_maps(void* first, void* second, int* length, MPI_Datatype* type) {
    (void)type;
    unsigned *a = first, *b = second;
    for (int i = 0; i < *length; ++i, a += 2, b += 2) {
        b[1] += b[0] * a[1];
        b[0] *= a[0];
    }
}

static void expect_sums(int n, const char* what) {
    for (int i = 0; i < n; ++i)
        CHECK(out[i] == size * (size + 1) / 2 + size * (i % 9), "%s of %d: element %d is %d", what, n, i, out[i]);
    memset(out, 0, sizeof out);
}

static void expect_data(int root, int n, const char* what) {
    for (int i = 0; i < n; ++i)
        CHECK(out[i] == root * 7 + i % 9, "%s of %d from %d: element %d is %d", what, n, root, i, out[i]);
    memset(out, 0, sizeof out);
}

static void give(int root) {
    for (int i = 0; i < most && rank == root; ++i) out[i] = root * 7 + i % 9;
}

static void commuting(int root, int n) {
    MPI_Request r;
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_sums(n, "allreduce");
    MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect_sums(n, "iallreduce");
    MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    if (rank == root) expect_sums(n, "reduce");
    MPI_Ireduce(in, out, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (rank == root) expect_sums(n, "ireduce");
    give(root);
    MPI_Bcast(out, n, MPI_INT, root, MPI_COMM_WORLD);
    expect_data(root, n, "bcast");
    give(root);
    MPI_Ibcast(out, n, MPI_INT, root, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect_data(root, n, "ibcast");
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void persistent(int n) {
    MPI_Request r;
    MPI_Allreduce_init(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int repeat = 0; repeat < 3; ++repeat) {
        MPI_Start(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        expect_sums(n, "persistent allreduce");
    }
    MPI_Request_free(&r);
}

static void in_rank_order(int n) {
    MPI_Op then;
    MPI_Datatype map;
    MPI_Op_create(then_maps, 0, &then);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &map);
    MPI_Type_commit(&map);
    unsigned *maps = malloc(2 * sizeof *maps * (size_t)n), *all = malloc(2 * sizeof *all * (size_t)n), a = 1, b = 0;
    for (int i = 0; i < n; ++i) maps[2 * i] = 3 + 2 * (unsigned)rank, maps[2 * i + 1] = (unsigned)rank + 1;
    for (unsigned r = 0; r < (unsigned)size; ++r) b = r + 1 + (3 + 2 * r) * b, a *= 3 + 2 * r;
    MPI_Allreduce(maps, all, n, map, then, MPI_COMM_WORLD);
    for (int i = 0; i < n; ++i) CHECK(all[2 * i] == a && all[2 * i + 1] == b, "maps in another order: element %d", i);
    MPI_Type_free(&map);
    MPI_Op_free(&then);
    free(maps);
    free(all);
}

int main(int argc, char** argv) {
    const int sizes[] = {1, 300, 9000, most};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < most; ++i) in[i] = rank + 1 + i % 9;
    for (int s = 0; s < 4; ++s) {
        for (int root = 0; root < size; root += 3) commuting(root, sizes[s]);
        persistent(sizes[s]);
    }
    if (!getenv("TUTTI_TOPOLOGY")) in_rank_order(1000);   // inside other nodes, ranks may be in any order
    MPI_Finalize();
    return 0;
}

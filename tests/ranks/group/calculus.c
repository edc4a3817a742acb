/* SPDX-License-Identifier: BSD-3-Clause */
/* Set operations on groups through handles; empty results are MPI_GROUP_EMPTY. */
// ranks: 1 4
#include "tests/ranks/check.h"

static MPI_Group world;
static int size, rank;

static int size_of(MPI_Group g) {
    int n;
    MPI_Group_size(g, &n);
    return n;
}

static int compare(MPI_Group a, MPI_Group b) {
    int result;
    MPI_Group_compare(a, b, &result);
    return result;
}

static void asking(void) {
    int r;
    MPI_Group_rank(world, &r);
    CHECK(r == rank && size_of(world) == size, "rank %d, size %d", r, size_of(world));
    MPI_Group_rank(MPI_GROUP_EMPTY, &r);
    CHECK(r == MPI_UNDEFINED && size_of(MPI_GROUP_EMPTY) == 0, "rank %d in the empty group", r);
}

static void choosing(void) {
    MPI_Group reversed, again, rest, none;
    int backwards[1][3] = {{0, 0, -1}}, last = size - 1, r;
    backwards[0][0] = last;
    MPI_Group_range_incl(world, 1, backwards, &reversed);
    MPI_Group_rank(reversed, &r);
    CHECK(r == last - rank, "rank %d in the reversed group", r);
    int alike = compare(world, reversed);
    CHECK(alike == (size == 1 ? MPI_IDENT : MPI_SIMILAR), "MPI_Group_compare returned %d", alike);
    MPI_Group_range_incl(reversed, 1, backwards, &again);
    CHECK(compare(world, again) == MPI_IDENT, "MPI_Group_compare returned %d", compare(world, again));

    MPI_Group_excl(world, 1, &last, &rest);
    CHECK(size_of(rest) == size - 1, "size %d", size_of(rest));
    CHECK(compare(world, rest) == MPI_UNEQUAL, "MPI_Group_compare returned %d", compare(world, rest));
    MPI_Group_range_excl(world, 1, backwards, &none);
    CHECK(none == MPI_GROUP_EMPTY, "handle %x", none);
    MPI_Group_incl(world, 0, NULL, &none);
    CHECK(none == MPI_GROUP_EMPTY, "handle %x", none);
    MPI_Group_free(&none);
    CHECK(none == MPI_GROUP_NULL, "handle %x", none);

    int ranks[3] = {0, MPI_PROC_NULL, last}, other[3];
    MPI_Group_translate_ranks(world, 3, ranks, reversed, other);
    CHECK(other[0] == last && other[1] == MPI_PROC_NULL && other[2] == 0, "%d %d %d", other[0], other[1], other[2]);
    MPI_Group_translate_ranks(world, 3, ranks, rest, other);
    CHECK(other[2] == MPI_UNDEFINED, "%d", other[2]);

    MPI_Group_free(&reversed);
    MPI_Group_free(&again);
    MPI_Group_free(&rest);
    CHECK(rest == MPI_GROUP_NULL || size == 1, "handle %x", rest);
}

static void combining(void) {
    MPI_Group first, rest, both, result;
    int zero = 0;
    MPI_Group_incl(world, 1, &zero, &first);
    MPI_Group_excl(world, 1, &zero, &rest);
    MPI_Group_union(rest, first, &both);
    CHECK(compare(both, world) == (size == 1 ? MPI_IDENT : MPI_SIMILAR), "MPI_Group_compare: %d", compare(both, world));
    MPI_Group_intersection(both, first, &result);
    CHECK(compare(result, first) == MPI_IDENT, "MPI_Group_compare returned %d", compare(result, first));
    MPI_Group_free(&result);
    MPI_Group_intersection(rest, first, &result);
    CHECK(result == MPI_GROUP_EMPTY, "handle %x", result);
    MPI_Group_difference(world, first, &result);
    CHECK(compare(result, rest) == MPI_IDENT, "MPI_Group_compare returned %d", compare(result, rest));
    MPI_Group_free(&result);
    MPI_Group_difference(world, world, &result);
    CHECK(result == MPI_GROUP_EMPTY, "handle %x", result);
    MPI_Group_union(MPI_GROUP_EMPTY, world, &result);
    CHECK(compare(result, world) == MPI_IDENT, "MPI_Group_compare returned %d", compare(result, world));
    MPI_Group_free(&result);
    MPI_Group_free(&first);
    MPI_Group_free(&rest);
    MPI_Group_free(&both);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    asking();
    choosing();
    combining();
    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}

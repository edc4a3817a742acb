/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators: their members, their duplicates, parts and merges, and how they compare. */
// ranks: 2 3 4 5 8
#include <string.h>

#include "tests/ranks/comm/inter.h"
#include "tests/ranks/comm/node.h"

static int rank, size;

/* Checks the world ranks of a group. */
static int members(MPI_Group group, int *world_ranks) {
    int n, ranks[64];
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &n);
    for (int i = 0; i < n; ++i) ranks[i] = i;
    MPI_Group_translate_ranks(group, n, ranks, world, world_ranks);
    MPI_Group_free(&world);
    return n;
}

static void expect_group(MPI_Group group, int n, const int *want, const char *what) {
    int ranks[64], got = members(group, ranks);
    CHECK(got == n, "%s: %d members instead of %d", what, got, n);
    for (int i = 0; i < n; ++i) CHECK(ranks[i] == want[i], "%s: rank %d is %d, not %d", what, i, ranks[i], want[i]);
    MPI_Group_free(&group);
}

static void expect_sides(MPI_Comm inter, int locals, const int *local, int remotes, const int *remote) {
    int flag, n, me;
    MPI_Group group;
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag == 1, "flag %d", flag);
    MPI_Comm_size(inter, &n);
    CHECK(n == locals, "size %d instead of %d", n, locals);
    MPI_Comm_remote_size(inter, &n);
    CHECK(n == remotes, "remote size %d instead of %d", n, remotes);
    MPI_Comm_rank(inter, &me);
    CHECK(local[me] == rank, "rank %d", me);
    MPI_Comm_group(inter, &group);
    expect_group(group, locals, local, "local group");
    MPI_Comm_remote_group(inter, &group);
    expect_group(group, remotes, remote, "remote group");
    /* Each rank exchanges a message with each rank of the remote group. */
    for (int i = 0; i < remotes; ++i) {
        int out[2] = {rank, remote[i]}, in[2] = {-1, -1};
        MPI_Sendrecv(out, 2, MPI_INT, i, 3, in, 2, MPI_INT, i, 3, inter, MPI_STATUS_IGNORE);
        CHECK(in[0] == remote[i] && in[1] == rank, "rank %d sent %d %d", i, in[0], in[1]);
    }
}

/* The world ranks of one side of a cut, of all ranks or only those with this rank's remainder by `modulus`. */
static int side(int cut, int turned, int which, int modulus, int *world_ranks) {
    int n = 0;
    for (int i = 0; i < size; ++i) {
        int r = turned && which ? size - 1 - i : i;
        if (side_of(cut, r, size) == which && (modulus == 1 || r % modulus == rank % modulus)) world_ranks[n++] = r;
    }
    return n;
}

static void expect_merged(MPI_Comm inter, int high, int n, const int *first, int m, const int *second) {
    MPI_Comm merged;
    MPI_Group group;
    int all[64], flag, sum = 0, want = 0;
    MPI_Intercomm_merge(inter, high, &merged);
    memcpy(all, first, (size_t)n * sizeof(int));
    memcpy(all + n, second, (size_t)m * sizeof(int));
    MPI_Comm_test_inter(merged, &flag);
    CHECK(flag == 0, "a merged communicator is reported as an intercommunicator");
    MPI_Comm_group(merged, &group);
    expect_group(group, n + m, all, "merged");
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    for (int i = 0; i < n + m; ++i) want += all[i];
    CHECK(sum == want, "sum %d instead of %d", sum, want);
    MPI_Comm_free(&merged);
}

static void comparisons(MPI_Comm inter, MPI_Comm copy) {
    int result;
    MPI_Comm local, dup;
    MPI_Comm_compare(inter, inter, &result);
    CHECK(result == MPI_IDENT, "with itself: %d", result);
    MPI_Comm_compare(inter, copy, &result);
    CHECK(result == MPI_CONGRUENT, "with a duplicate: %d", result);
    MPI_Comm_compare(inter, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_UNEQUAL, "with the world: %d", result);
    MPI_Comm_compare(MPI_COMM_SELF, inter, &result);
    CHECK(result == MPI_UNEQUAL, "MPI_COMM_SELF with it: %d", result);
    int n, m, me;
    MPI_Comm_rank(inter, &me);
    MPI_Comm_size(inter, &n);
    MPI_Comm_remote_size(inter, &m);
    MPI_Comm_split(inter, 0, -me, &local);   /* the same members in another order if there is more than one */
    MPI_Comm_compare(inter, local, &result);
    CHECK(result == (n > 1 || m > 1 ? MPI_SIMILAR : MPI_CONGRUENT), "turned round: %d", result);
    MPI_Comm_dup(local, &dup);
    MPI_Comm_compare(dup, local, &result);
    CHECK(result == MPI_CONGRUENT, "duplicate of a part: %d", result);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&local);
}

static void node_of(MPI_Comm inter, int cut, int turned) {
    int mine = side_of(cut, rank, size), local[64], remote[64];
    int n = keep_ranks_on_node(side(cut, turned, mine, 1, local), local);
    int m = keep_ranks_on_node(side(cut, turned, !mine, 1, remote), remote);
    MPI_Comm part;
    MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    CHECK((part != MPI_COMM_NULL) == (m > 0), "a node with %d and %d members gave %x", n, m, part);
    if (part == MPI_COMM_NULL) return;
    expect_sides(part, n, local, m, remote);
    MPI_Comm_free(&part);
}

static void parts(MPI_Comm inter, int cut, int turned) {
    int mine = side_of(cut, rank, size), local[64], remote[64];
    MPI_Comm part;
    /* By parity of the world rank. */
    int n = side(cut, turned, mine, 2, local), m = side(cut, turned, !mine, 2, remote);
    MPI_Comm_split(inter, rank % 2, 0, &part);
    CHECK((part != MPI_COMM_NULL) == (m > 0), "a color with %d and %d members gave %x", n, m, part);
    if (part != MPI_COMM_NULL) {
        expect_sides(part, n, local, m, remote);
        MPI_Comm_free(&part);
    }
    /* No rank of one side. */
    MPI_Comm_split(inter, mine ? 0 : MPI_UNDEFINED, 0, &part);
    CHECK(part == MPI_COMM_NULL, "one side alone gave %x", part);
    n = side(cut, turned, mine, 1, local), m = side(cut, turned, !mine, 1, remote);
    /* The last rank of each side and, if there is another, the first. */
    int chosen[2] = {n - 1, 0}, me;
    MPI_Group all, group;
    MPI_Comm_group(inter, &all);
    MPI_Comm_rank(inter, &me);
    MPI_Group_incl(all, n > 1 ? 2 : 1, chosen, &group);
    MPI_Comm_create(inter, group, &part);
    CHECK((part != MPI_COMM_NULL) == (me == n - 1 || me == 0), "rank %d gave %x", me, part);
    if (part != MPI_COMM_NULL) {
        int two[2] = {local[n - 1], local[0]}, others[2] = {remote[m - 1], remote[0]};
        expect_sides(part, n > 1 ? 2 : 1, two, m > 1 ? 2 : 1, others);
        MPI_Comm_free(&part);
    }
    MPI_Comm_create(inter, mine ? all : MPI_GROUP_EMPTY, &part);
    CHECK(part == MPI_COMM_NULL, "an empty group on one side gave %x", part);
    MPI_Group_free(&all);
    MPI_Group_free(&group);
}

static void one_cut(int cut, int turned) {
    int mine = side_of(cut, rank, size), local[64], remote[64];
    int n = side(cut, turned, mine, 1, local), m = side(cut, turned, !mine, 1, remote);
    MPI_Comm inter = make_inter(cut, turned, NULL), copy, again;
    expect_sides(inter, n, local, m, remote);
    MPI_Comm_dup(inter, &copy);
    expect_sides(copy, n, local, m, remote);
    comparisons(inter, copy);
    MPI_Comm_dup_with_info(copy, MPI_INFO_NULL, &again);
    MPI_Comm_free(&copy);
    expect_sides(again, n, local, m, remote);
    parts(again, cut, turned);
    node_of(again, cut, turned);
    for (int low = 0; low < 2; ++low)   /* `low` is the side that passes high = 0 */
        if (mine == low) expect_merged(again, 0, n, local, m, remote);
        else expect_merged(again, 1, m, remote, n, local);
    MPI_Comm_free(&again);
    /* Both sides pass the same `high`: either order is allowed, but the same at all ranks. */
    MPI_Comm merged;
    MPI_Intercomm_merge(inter, cut % 2, &merged);
    int first[64], me;
    MPI_Comm_rank(merged, &me);
    MPI_Allgather(&mine, 1, MPI_INT, first, 1, MPI_INT, merged);
    for (int i = 0, changes = 0; i + 1 < size; ++i) {
        changes += first[i] != first[i + 1];
        CHECK(changes <= 1, "the sides are mixed at rank %d", i);
    }
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
}

/* Merges single processes to the world: each round joins neighbouring blocks. */
static void grow(void) {
    MPI_Comm whole;
    MPI_Comm_dup(MPI_COMM_SELF, &whole);
    for (int width = 1; width < size; width *= 2) {
        int block = rank / width, partner = block ^ 1, first = partner * width;
        if (first >= size) continue;
        MPI_Comm inter, wider;
        MPI_Intercomm_create(whole, 0, MPI_COMM_WORLD, first, width, &inter);
        MPI_Intercomm_merge(inter, block % 2, &wider);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&whole);
        whole = wider;
    }
    int result;
    MPI_Comm_compare(whole, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT, "result %d", result);
    MPI_Comm_free(&whole);
}

/* The leaders use an intercommunicator as the peer communicator. */
static void over_inter(void) {
    MPI_Comm local, peer = make_inter(0, 0, &local), inter;
    int remotes, again;
    MPI_Intercomm_create(local, 0, peer, 0, 1, &inter);
    MPI_Comm_remote_size(peer, &remotes);
    MPI_Comm_remote_size(inter, &again);
    CHECK(again == remotes, "%d instead of %d", again, remotes);
    MPI_Comm_free(&peer);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int cut = 0; cut < cuts; ++cut)
        for (int turned = 0; turned < 2; ++turned) one_cut(cut, turned);
    grow();
    over_inter();
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators made by each function; their messages and collectives must not mix with those of their parent. */
// ranks: 1 2 5 8
#include "tests/ranks/comm/node.h"

static int rank, size;

/* Checks that the communicator has these members in this order, and works. */
static void is(MPI_Comm comm, int n, const int *world_ranks, const char *what) {
    CHECK(comm != MPI_COMM_NULL, "%s is null", what);
    MPI_Group world, mine;
    int members, me, sum = 0, want = 0;
    MPI_Comm_size(comm, &members);
    CHECK(members == n, "%s has %d members instead of %d", what, members, n);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(comm, &mine);
    for (int i = 0; i < n; ++i) {
        int there;
        MPI_Group_translate_ranks(mine, 1, &i, world, &there);
        CHECK(there == world_ranks[i], "%s: rank %d is world rank %d instead of %d", what, i, there, world_ranks[i]);
        want += there + 1;
    }
    MPI_Comm_rank(comm, &me);
    CHECK(world_ranks[me] == rank, "%s: rank %d", what, me);
    int mine_is = rank + 1;
    MPI_Allreduce(&mine_is, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == want, "%s: sum is %d instead of %d", what, sum, want);
    int left = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, (me + 1) % n, 3, &left, 1, MPI_INT, (me + n - 1) % n, 3, comm, MPI_STATUS_IGNORE);
    CHECK(left == world_ranks[(me + n - 1) % n], "%s: got %d", what, left);
    MPI_Group_free(&world);
    MPI_Group_free(&mine);
}

static void duplicates(void) {
    int all[64];
    for (int i = 0; i < size; ++i) all[i] = i;
    MPI_Comm copy, again;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_dup(copy, &again);
    is(copy, size, all, "duplicate");
    is(again, size, all, "duplicate of a duplicate");
    int result;
    MPI_Comm_compare(copy, again, &result);
    CHECK(result == MPI_CONGRUENT, "MPI_Comm_compare returned %d", result);
    MPI_Comm_compare(copy, copy, &result);
    CHECK(result == MPI_IDENT, "MPI_Comm_compare returned %d", result);

    /* A message on one communicator is not received on another. */
    int sent[2] = {1, 2}, got[2] = {0, 0};
    MPI_Request requests[4];
    MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, again, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &requests[1]);
    MPI_Isend(&sent[1], 1, MPI_INT, (rank + 1) % size, 0, copy, &requests[2]);
    MPI_Isend(&sent[0], 1, MPI_INT, (rank + 1) % size, 0, again, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(got[0] == 1 && got[1] == 2, "got %d and %d", got[0], got[1]);
    MPI_Comm_free(&copy);
    CHECK(copy == MPI_COMM_NULL, "handle %x after the free", copy);
    is(again, size, all, "duplicate whose parent was freed");
    MPI_Comm_free(&again);

    MPI_Comm alone;
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    is(alone, 1, &rank, "duplicate of MPI_COMM_SELF");
    MPI_Comm_free(&alone);
}

static void splits(void) {
    int members[64], n = 0;
    MPI_Comm part;
    for (int r = size - 1; r >= 0; --r)
        if (r % 3 == rank % 3) members[n++] = r;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3, -rank, &part);
    is(part, n, members, "part by rank modulo 3, reversed");
    MPI_Comm_free(&part);

    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 7, 0, &part);
    CHECK((part == MPI_COMM_NULL) == (rank == 0), "handle %x", part);
    for (int r = 1; r < size; ++r) members[r - 1] = r;
    if (rank > 0) is(part, size - 1, members, "all but rank 0");
    if (rank > 0) MPI_Comm_free(&part);

    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &part);
    CHECK(part == MPI_COMM_NULL, "handle %x", part);

    for (int r = 0; r < size; ++r) members[r] = r;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    is(part, keep_ranks_on_node(size, members), members, "the node");
    MPI_Comm_free(&part);
    MPI_Comm_split_type(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    CHECK((part == MPI_COMM_NULL) == (rank == 0), "handle %x", part);
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
}

static void by_group(void) {
    MPI_Group world, half;
    MPI_Comm part;
    int range[1][3] = {{0, 0, 2}}, members[64], n = 0, last = size - 1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    range[0][1] = last;
    MPI_Group_range_incl(world, 1, range, &half);
    for (int r = 0; r < size; r += 2) members[n++] = r;

    /* One group for all ranks; ranks outside it get MPI_COMM_NULL. */
    MPI_Comm_create(MPI_COMM_WORLD, half, &part);
    CHECK((part == MPI_COMM_NULL) == (rank % 2 == 1), "handle %x", part);
    if (part != MPI_COMM_NULL) {
        is(part, n, members, "even ranks");
        MPI_Comm_free(&part);
    }
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &part);
    CHECK(part == MPI_COMM_NULL, "handle %x", part);

    /* Disjoint groups in one call. */
    MPI_Group odd, mine = half;
    MPI_Group_difference(world, half, &odd);
    if (rank % 2 == 1) {
        mine = odd;
        n = 0;
        for (int r = 1; r < size; r += 2) members[n++] = r;
    }
    MPI_Comm_create(MPI_COMM_WORLD, mine, &part);
    is(part, n, members, "even or odd ranks");
    MPI_Comm_free(&part);

    /* Only the members call, in several groups at the same time, and again with the same tag. */
    for (int round = 0; round < 3; ++round) {
        MPI_Comm_create_group(MPI_COMM_WORLD, mine, rank % 2, &part);
        is(part, n, members, "group of even or odd ranks");
        MPI_Comm_free(&part);
    }
    if (rank == last) {
        MPI_Group lonely;
        MPI_Group_incl(world, 1, &last, &lonely);
        MPI_Comm_create_group(MPI_COMM_WORLD, lonely, 0, &part);
        is(part, 1, &last, "the last rank alone");
        MPI_Comm_free(&part);
        MPI_Group_free(&lonely);
    }
    MPI_Group_free(&half);
    MPI_Group_free(&odd);
    MPI_Group_free(&world);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    duplicates();
    splits();
    by_group();
    MPI_Finalize();
    return 0;
}

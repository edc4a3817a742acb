/* SPDX-License-Identifier: BSD-3-Clause */
/* Each operation in each kind of epoch: fence, post-start-complete-wait, lock, and lock_all; with and without
 * requests. */
// ranks: 1 2 3 4
#include <string.h>

#include "tests/ranks/check.h"

enum { items = 8 };
enum epoch { by_fence, by_groups, by_lock, by_lock_all, epochs };

static int rank, size, left, right;
static MPI_Win win;
static long *mine;

static MPI_Group only(int one) {
    MPI_Group all, part;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &one, &part);
    MPI_Group_free(&all);
    return part;
}

/* Opens an epoch with the right neighbour as target. After it is closed, the left neighbour's operations are visible
 * here. */
static void open_epoch(enum epoch e) {
    if (e == by_fence) MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    if (e == by_groups) {
        MPI_Group from = only(left), to = only(right);
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Group_free(&from);
        MPI_Group_free(&to);
    }
    if (e == by_lock) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    if (e == by_lock_all) MPI_Win_lock_all(0, win);
}

static void close_epoch(enum epoch e) {
    int done = 0;
    if (e == by_fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (e == by_groups) {
        MPI_Win_complete(win);
        if (rank % 2) MPI_Win_wait(win);
        else while (!done) MPI_Win_test(win, &done);
    }
    if (e == by_lock) MPI_Win_unlock(right, win);
    if (e == by_lock_all) MPI_Win_unlock_all(win);
    if (e == by_lock || e == by_lock_all) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        MPI_Win_unlock(rank, win);
    }
}

static void reset(void) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < items; ++i) mine[i] = 10 * rank + i;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void plain(enum epoch e) {
    long out[2] = {1000 + rank, 2000 + rank}, in[2] = {-1, -1}, old = -1, swapped = -1, before = -1;
    long const four = 4, six = 6, expected = 10 * right + 6;
    reset();
    open_epoch(e);
    MPI_Get(in, 2, MPI_LONG, right, 2, 2, MPI_LONG, win);
    MPI_Put(out, 2, MPI_LONG, right, 0, 2, MPI_LONG, win);
    MPI_Accumulate(&four, 1, MPI_LONG, right, 4, 1, MPI_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&six, &old, MPI_LONG, right, 5, MPI_PROD, win);
    MPI_Compare_and_swap(out, &expected, &swapped, MPI_LONG, right, 6, win);
    MPI_Get_accumulate(out, 1, MPI_LONG, &before, 1, MPI_LONG, right, 7, 1, MPI_LONG, MPI_REPLACE, win);
    close_epoch(e);
    CHECK(in[0] == 10 * right + 2 && in[1] == 10 * right + 3, "epoch %d: got %ld %ld", e, in[0], in[1]);
    CHECK(old == 10 * right + 5 && swapped == expected && before == 10 * right + 7, "epoch %d: %ld %ld %ld", e, old,
          swapped, before);
    long const now[items] = {1000 + left,        2000 + left,         10 * rank + 2, 10 * rank + 3,
                             10 * rank + 4 + 4,  (10 * rank + 5) * 6, 1000 + left,   1000 + left};
    CHECK(!memcmp(now, mine, sizeof now), "epoch %d: %ld %ld %ld %ld %ld %ld %ld %ld", e, mine[0], mine[1], mine[2],
          mine[3], mine[4], mine[5], mine[6], mine[7]);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every other element on one side, contiguous elements on the other. */
static void with_gaps(enum epoch e) {
    long const out[4] = {1, 2, 3, 4};
    long in[8] = {0};
    MPI_Datatype every_other;
    MPI_Type_vector(4, 1, 2, MPI_LONG, &every_other);
    MPI_Type_commit(&every_other);
    reset();
    open_epoch(e);
    MPI_Accumulate(out, 4, MPI_LONG, right, 0, 1, every_other, MPI_SUM, win);
    close_epoch(e);
    for (int i = 0; i < items; ++i)
        CHECK(mine[i] == 10 * rank + i + (i % 2 ? 0 : i / 2 + 1), "epoch %d: element %d is %ld", e, i, mine[i]);
    reset();
    open_epoch(e);
    MPI_Get(in, 1, every_other, right, 4, 4, MPI_LONG, win);
    close_epoch(e);
    for (int i = 0; i < 8; ++i)
        CHECK(in[i] == (i % 2 ? 0 : 10 * right + 4 + i / 2), "epoch %d: got %ld at %d", e, in[i], i);
    reset();
    open_epoch(e);
    MPI_Put(out, 4, MPI_LONG, right, 0, 1, every_other, win);
    close_epoch(e);
    for (int i = 0; i < items; ++i)
        CHECK(mine[i] == (i % 2 ? 10 * rank + i : i / 2 + 1), "epoch %d: element %d is %ld", e, i, mine[i]);
    /* The origin data may be shorter than the target datatype. */
    reset();
    for (int i = 0; i < 8; ++i) in[i] = -1;
    open_epoch(e);
    MPI_Put(out, 2, MPI_LONG, right, 0, 1, every_other, win);
    MPI_Get(in, 1, every_other, right, 4, 2, MPI_LONG, win);
    close_epoch(e);
    for (int i = 0; i < items; ++i)
        CHECK(mine[i] == (i == 0 ? 1 : i == 2 ? 2 : 10 * rank + i), "epoch %d: element %d is %ld", e, i, mine[i]);
    for (int i = 0; i < 8; ++i)
        CHECK(in[i] == (i == 0 || i == 2 ? 10 * right + 4 + i / 2 : -1), "epoch %d: got %ld at %d", e, in[i], i);
    MPI_Type_free(&every_other);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Request-based operations are allowed in passive-target epochs only. */
static void with_requests(enum epoch e) {
    long const out = 77, more = 5;
    long in = -1, before = -1;
    MPI_Request requests[4];
    MPI_Status statuses[4];
    reset();
    open_epoch(e);
    MPI_Rget(&in, 1, MPI_LONG, right, 1, 1, MPI_LONG, win, &requests[0]);
    MPI_Rput(&out, 1, MPI_LONG, right, 0, 1, MPI_LONG, win, &requests[1]);
    MPI_Raccumulate(&more, 1, MPI_LONG, right, 2, 1, MPI_LONG, MPI_SUM, win, &requests[2]);
    MPI_Rget_accumulate(&more, 1, MPI_LONG, &before, 1, MPI_LONG, right, 3, 1, MPI_LONG, MPI_SUM, win, &requests[3]);
    MPI_Waitall(4, requests, statuses);
    for (int i = 0; i < 4; ++i) CHECK(requests[i] == MPI_REQUEST_NULL, "request %d is %x", i, requests[i]);
    CHECK(in == 10 * right + 1 && before == 10 * right + 3, "%ld %ld", in, before);
    MPI_Win_flush(right, win);
    MPI_Win_flush_local(right, win);
    MPI_Win_flush_all(win);
    MPI_Win_flush_local_all(win);
    MPI_Win_sync(win);
    close_epoch(e);
    CHECK(mine[0] == 77, "%ld", mine[0]);
    CHECK(mine[2] == 10 * rank + 7 && mine[3] == 10 * rank + 8, "%ld %ld", mine[2], mine[3]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_of_them(void) {
    for (enum epoch e = 0; e < epochs; ++e) {
        plain(e);
        with_gaps(e);
        if (e == by_lock || e == by_lock_all) with_requests(e);
    }
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    static long elsewhere[items];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    MPI_Win_allocate(items * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_set_name(win, "allocated");
    all_of_them();
    mine = elsewhere;
    MPI_Win_create(mine, items * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "created");
    all_of_them();
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of each flavor: their attributes, the addresses of their memory, and the memory that is freed with them. */
// ranks: 1 2 4
#include "tests/ranks/check.h"

static int rank, size;
static MPI_Comm node;   /* the ranks of this node */

static int number(MPI_Win win, int key) {
    int *value = NULL, flag = 0;
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(flag && value, "attribute %x: flag %d", key, flag);
    return *value;
}

static void check_attributes(MPI_Win win, int flavor, void *base, MPI_Aint bytes, int disp_unit) {
    void *there = &there;
    MPI_Aint *length = NULL;
    int flag = 0;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &there, &flag);
    CHECK(flag && there == base, "base %p instead of %p", there, base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &length, &flag);
    CHECK(flag && *length == bytes, "size %ld instead of %ld", (long)*length, (long)bytes);
    CHECK(number(win, MPI_WIN_DISP_UNIT) == disp_unit, "disp_unit %d", number(win, MPI_WIN_DISP_UNIT));
    CHECK(number(win, MPI_WIN_CREATE_FLAVOR) == flavor, "flavor %d", number(win, MPI_WIN_CREATE_FLAVOR));
    CHECK(number(win, MPI_WIN_MODEL) == MPI_WIN_UNIFIED, "model %d", number(win, MPI_WIN_MODEL));
}

static void check_group(MPI_Win win, MPI_Comm comm) {
    MPI_Group mine, theirs;
    int result;
    MPI_Win_get_group(win, &mine);
    MPI_Comm_group(comm, &theirs);
    MPI_Group_compare(mine, theirs, &result);
    CHECK(result == MPI_IDENT, "the window's group compares as %d", result);
    MPI_Group_free(&mine);
    MPI_Group_free(&theirs);
}

/* Each rank puts a value into its right neighbour's part. */
static void pass_on(MPI_Win win, int *mine) {
    int const value = 100 + rank;
    *mine = -1;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(*mine == 100 + (rank + size - 1) % size, "%d", *mine);
}

static void created(void) {
    static int on_static[8];
    int on_stack[8], *large = malloc(1 << 20);
    int *places[] = {on_static, on_stack, large};
    for (int i = 0; i < 3; ++i) {
        MPI_Win win;
        MPI_Win_create(places[i], 8 * sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        check_attributes(win, MPI_WIN_FLAVOR_CREATE, places[i], 8 * sizeof(int), 4);
        check_group(win, MPI_COMM_WORLD);
        pass_on(win, places[i]);
        MPI_Win_free(&win);
        CHECK(win == MPI_WIN_NULL, "a freed window is %x", win);
    }
    free(large);
}

/* Some ranks have no memory, and each rank has its own displacement unit. */
static void of_different_sizes(void) {
    char memory[64] = {0}, value = 7;
    MPI_Win win;
    MPI_Aint const bytes = rank % 2 ? 0 : (MPI_Aint)sizeof memory;
    MPI_Win_create(bytes ? memory : NULL, bytes, 1 + rank, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_attributes(win, MPI_WIN_FLAVOR_CREATE, bytes ? memory : NULL, bytes, 1 + rank);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    if (size > 2) MPI_Put(&value, 1, MPI_CHAR, 2, 4 + rank, 1, MPI_CHAR, win);
    if (size > 1) FAILS(MPI_ERR_RMA_RANGE, MPI_Put(&value, 1, MPI_CHAR, 1, 0, 1, MPI_CHAR, win));
    MPI_Win_fence(0, win);
    if (rank == 2)
        for (int i = 0; i < size; ++i) CHECK(memory[3 * (4 + i)] == 7, "rank %d has put %d", i, memory[3 * (4 + i)]);
    MPI_Win_free(&win);
}

static void allocated(void) {
    int *base = NULL;
    MPI_Win win;
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    check_attributes(win, MPI_WIN_FLAVOR_ALLOCATE, base, 64, 4);
    check_group(win, MPI_COMM_WORLD);
    CHECK(((MPI_Aint)base & 63) == 0, "%p does not begin a cache line", (void *)base);
    pass_on(win, base);
    MPI_Win_free(&win);
    MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_free(&win);
}

/* Parts are contiguous unless the program allows otherwise; each rank stores into each part. */
static void shared(int noncontiguous) {
    MPI_Info info = MPI_INFO_NULL;
    int *mine = NULL, me, all;
    MPI_Win win;
    MPI_Comm_rank(node, &me);
    MPI_Comm_size(node, &all);
    MPI_Aint const bytes = 400 * (1 + me);
    if (noncontiguous) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    }
    MPI_Win_allocate_shared(bytes, 4, info, node, &mine, &win);
    check_attributes(win, MPI_WIN_FLAVOR_SHARED, mine, bytes, 4);
    check_group(win, node);
    char *end = NULL;
    MPI_Win_lock_all(0, win);
    for (int r = 0; r < all; ++r) {
        MPI_Aint length = -1;
        int unit = -1, *theirs = NULL;
        MPI_Win_shared_query(win, r, &length, &unit, &theirs);
        CHECK(length == 400 * (1 + r) && unit == 4, "rank %d: %ld bytes, unit %d", r, (long)length, unit);
        CHECK(r != me || theirs == mine, "%p instead of %p", (void *)theirs, (void *)mine);
        CHECK(noncontiguous || !end || end == (char *)theirs, "%p does not follow %p", (void *)theirs, (void *)end);
        end = (char *)theirs + length;
        theirs[me] = 1000 * r + me;
    }
    MPI_Aint length;
    int unit, *first = NULL, *there = NULL;
    MPI_Win_shared_query(win, MPI_PROC_NULL, &length, &unit, &first);
    MPI_Win_shared_query(win, 0, &length, &unit, &there);
    CHECK(first == there, "the first part is at %p, not at %p", (void *)first, (void *)there);
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    for (int r = 0; r < all; ++r) CHECK(mine[r] == 1000 * me + r, "rank %d has stored %d", r, mine[r]);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
}

/* MPI 4.1: MPI_Win_shared_query works on other flavors, and the memory that they allocate is accessible. */
static void asked_on_other_flavors(void) {
    int *mine, me, all;
    MPI_Win win;
    MPI_Comm_rank(node, &me);
    MPI_Comm_size(node, &all);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_fence(0, win);
    for (int r = 0; r < all; ++r) {
        MPI_Aint length = -1;
        int unit = -1, *theirs = NULL;
        MPI_Win_shared_query(win, r, &length, &unit, &theirs);
        CHECK(length == 64 && unit == 4 && theirs, "rank %d: %ld bytes at %p", r, (long)length, (void *)theirs);
        theirs[me] = 1000 * r + me;
    }
    MPI_Win_fence(0, win);
    for (int r = 0; r < all; ++r) CHECK(mine[r] == 1000 * me + r, "rank %d has stored %d", r, mine[r]);
    MPI_Win_free(&win);
}

static void dynamic(void) {
    int memory[4] = {0}, more[4] = {0};
    MPI_Win win;
    MPI_Aint mine, *all = malloc((size_t)size * sizeof *all);
    int const value = 100 + rank;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    check_attributes(win, MPI_WIN_FLAVOR_DYNAMIC, MPI_BOTTOM, 0, 1);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Win_attach(win, more, sizeof more);
    MPI_Get_address(more, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
    int const right = (rank + 1) % size;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Put(&value, 1, MPI_INT, right, MPI_Aint_add(all[right], 8), 1, MPI_INT, win);
    MPI_Win_unlock(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(more[2] == 100 + (rank + size - 1) % size && more[1] == 0, "%d %d", more[2], more[1]);
    MPI_Win_unlock(rank, win);
    MPI_Win_detach(win, more);
    MPI_Win_detach(win, memory);
    MPI_Win_attach(win, more, sizeof more);
    MPI_Win_detach(win, more);
    MPI_Win_free(&win);
    free(all);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    created();
    of_different_sizes();
    allocated();
    shared(0);
    shared(1);
    asked_on_other_flavors();
    dynamic();
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that repeats the one before it makes fewer checks, but each error is still reported: an epoch that has ended
 * or has other targets, another or a freed window, elements beyond the target's part, a wrong argument. Correct calls
 * access the right one of many windows. */
// ranks: 1 2 4
// may warn: T11 T14
#include <pthread.h>

#include "tests/ranks/check.h"

enum { items = 8, many = 11 };
static int rank, size, to, from;
static long value, old, zero;

static MPI_Win make(long **mine) {
    MPI_Win win;
    MPI_Win_allocate(items * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, mine, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < items; ++i) (*mine)[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static int put(int target, MPI_Aint disp, MPI_Win win) {
    return MPI_Put(&value, 1, MPI_LONG, target, disp, 1, MPI_LONG, win);
}
static int get(int target, MPI_Aint disp, MPI_Win win) {
    return MPI_Get(&old, 1, MPI_LONG, target, disp, 1, MPI_LONG, win);
}
static int add(int target, MPI_Aint disp, MPI_Win win) {
    return MPI_Accumulate(&value, 1, MPI_LONG, target, disp, 1, MPI_LONG, MPI_SUM, win);
}
static int get_add(int target, MPI_Aint disp, MPI_Win win) {
    return MPI_Get_accumulate(&value, 1, MPI_LONG, &old, 1, MPI_LONG, target, disp, 1, MPI_LONG, MPI_SUM, win);
}
static int fetch_add(int target, MPI_Aint disp, MPI_Win win) {
    return MPI_Fetch_and_op(&value, &old, MPI_LONG, target, disp, MPI_SUM, win);
}
static int swap(int target, MPI_Aint disp, MPI_Win win) {
    return MPI_Compare_and_swap(&value, &zero, &old, MPI_LONG, target, disp, win);
}

typedef int (*operation)(int target, MPI_Aint disp, MPI_Win win);
static operation const operations[] = {put, get, add, get_add, fetch_add, swap};
enum { all_operations = sizeof operations / sizeof *operations };

/* Makes all calls at the target's last element, twice each. */
static void expect_all(int error, int target, MPI_Win win) {
    for (int again = 0; again < 2; ++again)
        for (int i = 0; i < all_operations; ++i) {
            int error_class;
            MPI_Error_class(operations[i](target, items - 1, win), &error_class);
            CHECK(error_class == error, "operation %d: class %d instead of %d", i, error_class, error);
        }
}

static void values(MPI_Win win, long const *mine) {
    double const half = 0.5;
    double before = -1;
    MPI_Win_lock_all(0, win);
    for (int i = 1; i <= 3; ++i) {
        value = 10 * i;
        put(to, 0, win);
        MPI_Win_flush(to, win);
        get(to, 0, win);
        MPI_Win_flush(to, win);
        CHECK(old == value, "got %ld instead of %ld", old, value);
        value = 1;
        add(to, 1, win);
        MPI_Win_flush(to, win);
        get_add(to, 1, win);
        MPI_Win_flush(to, win);
        CHECK(old == 3 * i - 2, "sum %ld in round %d", old, i);
        fetch_add(to, 1, win);
        MPI_Win_flush(to, win);
        CHECK(old == 3 * i - 1, "sum %ld in round %d", old, i);
        value = 7;
        swap(to, 2, win);
        MPI_Win_flush(to, win);
        CHECK(old == (i == 1 ? 0 : 7), "swapped %ld in round %d", old, i);
        MPI_Accumulate(&half, 1, MPI_DOUBLE, to, 3, 1, MPI_DOUBLE, MPI_SUM, win);
        MPI_Win_flush(to, win);
        MPI_Fetch_and_op(&half, &before, MPI_DOUBLE, to, 3, MPI_SUM, win);
        MPI_Win_flush(to, win);
        CHECK(before == i - 0.5, "sum of doubles %g in round %d", before, i);
        MPI_Accumulate(&value, 1, MPI_LONG, to, 4, 1, MPI_LONG, MPI_MAX, win);
        MPI_Win_flush(to, win);
        MPI_Fetch_and_op(NULL, &old, MPI_LONG, to, 4, MPI_NO_OP, win);
        MPI_Win_flush(to, win);
        CHECK(old == 7, "greatest %ld", old);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mine[0] == 30 && mine[1] == 9 && mine[2] == 7 && mine[4] == 7, "%ld %ld %ld %ld", mine[0], mine[1], mine[2],
          mine[4]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void arguments(MPI_Win win) {
    char few[3] = "abc";
    double number = 1;
    int i;
    MPI_Win_lock_all(0, win);
    expect_all(MPI_SUCCESS, to, win);
    for (i = 0; i < all_operations; ++i) {
        FAILS(MPI_ERR_RMA_RANGE, operations[i](to, items, win));
        FAILS(MPI_ERR_RMA_RANGE, operations[i](to, (MPI_Aint)1 << 60, win));
        FAILS(MPI_ERR_RMA_RANGE, operations[i](to, (MPI_Aint)1 << 62, win));
        FAILS(MPI_ERR_DISP, operations[i](to, -1, win));
        FAILS(MPI_ERR_RANK, operations[i](size, 0, win));
        FAILS(MPI_ERR_RANK, operations[i](-7, 0, win));
        FAILS(MPI_SUCCESS, operations[i](MPI_PROC_NULL, 0, win));
        FAILS(MPI_ERR_WIN, operations[i](to, 0, MPI_WIN_NULL));
        FAILS(MPI_ERR_WIN, operations[i](to, 0, win + 4));
    }
    FAILS(MPI_ERR_RMA_RANGE, MPI_Put(&value, 0x7fffffff, MPI_LONG, to, 0, 0x7fffffff, MPI_LONG, win));
    FAILS(MPI_ERR_COUNT, MPI_Put(&value, -1, MPI_LONG, to, 0, -1, MPI_LONG, win));
    FAILS(MPI_SUCCESS, MPI_Put(&value, 0, MPI_LONG, to, 0, 0, MPI_LONG, win));
    FAILS(MPI_ERR_BUFFER, MPI_Put(NULL, 1, MPI_LONG, to, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_BUFFER, MPI_Get(MPI_IN_PLACE, 1, MPI_LONG, to, 0, 1, MPI_LONG, win));
    FAILS(MPI_ERR_BUFFER, MPI_Accumulate(NULL, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, win));
    FAILS(MPI_ERR_BUFFER, MPI_Fetch_and_op(&value, NULL, MPI_LONG, to, 0, MPI_SUM, win));
    FAILS(MPI_ERR_BUFFER, MPI_Fetch_and_op(NULL, &old, MPI_LONG, to, 0, MPI_SUM, win));
    FAILS(MPI_ERR_BUFFER, MPI_Compare_and_swap(&value, NULL, &old, MPI_LONG, to, 0, win));
    FAILS(MPI_ERR_TYPE, MPI_Put(&value, 1, MPI_DATATYPE_NULL, to, 0, 1, MPI_DATATYPE_NULL, win));
    FAILS(MPI_ERR_TYPE, MPI_Put(&value, 1, (MPI_Datatype)MPI_SUM, to, 0, 1, (MPI_Datatype)MPI_SUM, win));
    FAILS(MPI_ERR_TRUNCATE, MPI_Put(&value, 1, MPI_LONG, to, 0, 1, MPI_INT, win));
    FAILS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_NO_OP, win));
    FAILS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_OP_NULL, win));
    FAILS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_MINLOC, win));
    FAILS(MPI_ERR_OP, MPI_Accumulate(&number, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_BXOR, win));
    FAILS(MPI_ERR_OP, MPI_Fetch_and_op(&number, &number, MPI_DOUBLE, to, 0, MPI_BAND, win));
    FAILS(MPI_ERR_TYPE, MPI_Compare_and_swap(&number, &number, &number, MPI_DOUBLE, to, 0, win));
    FAILS(MPI_ERR_RANK, MPI_Win_flush(size, win));
    FAILS(MPI_SUCCESS, MPI_Win_flush(MPI_PROC_NULL, win));
    FAILS(MPI_SUCCESS, MPI_Put(few, 3, MPI_CHAR, to, 0, 3, MPI_CHAR, win));
    MPI_Win_unlock_all(win);
}

static void epochs(MPI_Win win) {
    MPI_Group all, one;
    expect_all(MPI_ERR_RMA_SYNC, to, win);
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(to, win));
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    expect_all(MPI_SUCCESS, to, win);
    FAILS(MPI_SUCCESS, MPI_Win_flush(to, win));
    if (size > 1) {
        expect_all(MPI_ERR_RMA_SYNC, rank, win);
        FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(rank, win));
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        expect_all(MPI_SUCCESS, rank, win);
        expect_all(MPI_SUCCESS, to, win);
        MPI_Win_unlock(rank, win);
        expect_all(MPI_ERR_RMA_SYNC, rank, win);
        FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(rank, win));
        expect_all(MPI_SUCCESS, to, win);
        FAILS(MPI_SUCCESS, MPI_Win_flush(to, win));
    }
    MPI_Win_unlock(to, win);
    expect_all(MPI_ERR_RMA_SYNC, to, win);

    MPI_Win_fence(0, win);
    FAILS(MPI_SUCCESS, get(to, 0, win));
    expect_all(MPI_SUCCESS, to, win);
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(to, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));   /* the fence's epoch has been used */
    MPI_Win_fence(0, win);
    MPI_Win_lock_all(0, win);   /* this fence's epoch has not been used */
    expect_all(MPI_SUCCESS, to, win);
    MPI_Win_unlock_all(win);
    expect_all(MPI_ERR_RMA_SYNC, to, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    expect_all(MPI_ERR_RMA_SYNC, to, win);

    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &from, &one);
    MPI_Win_fence(0, win);
    expect_all(MPI_SUCCESS, to, win);
    MPI_Win_fence(0, win);
    MPI_Win_post(one, 0, win);
    MPI_Group_free(&one);
    MPI_Group_incl(all, 1, &to, &one);
    MPI_Win_start(one, 0, win);
    if (size > 1) expect_all(MPI_ERR_RMA_SYNC, rank, win);
    expect_all(MPI_SUCCESS, to, win);
    MPI_Win_complete(win);
    expect_all(MPI_ERR_RMA_SYNC, to, win);
    MPI_Win_wait(win);
    MPI_Group_free(&one);
    MPI_Group_free(&all);
}

/* Requests of operations that complete immediately are normal requests: each has its own handle, which becomes
 * invalid. */
static void requests(MPI_Win win) {
    MPI_Request all[4], again;
    int flag;
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < 3; ++round) {
        long in[4] = {-1, -1, -1, -1}, out[4];
        for (int i = 0; i < 4; ++i) {
            out[i] = 10 * round + i;
            MPI_Rput(&out[i], 1, MPI_LONG, to, i, 1, MPI_LONG, win, &all[i]);
            for (int j = 0; j < i; ++j) CHECK(all[i] != all[j], "requests %d and %d are one", i, j);
        }
        again = all[0];
        FAILS(MPI_SUCCESS, MPI_Wait(&all[0], MPI_STATUS_IGNORE));
        FAILS(MPI_ERR_REQUEST, MPI_Wait(&again, MPI_STATUS_IGNORE));
        do FAILS(MPI_SUCCESS, MPI_Test(&all[1], &flag, MPI_STATUS_IGNORE));
        while (!flag);
        CHECK(all[1] == MPI_REQUEST_NULL, "request %d is still there", 1);
        FAILS(MPI_SUCCESS, MPI_Request_free(&all[2]));
        FAILS(MPI_SUCCESS, MPI_Waitall(4, all, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 4; ++i) MPI_Rget(&in[i], 1, MPI_LONG, to, i, 1, MPI_LONG, win, &all[i]);
        FAILS(MPI_SUCCESS, MPI_Waitall(4, all, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 4; ++i) CHECK(in[i] == out[i], "got %ld instead of %ld", in[i], out[i]);
    }
    FAILS(MPI_ERR_ARG, MPI_Rget(&old, 1, MPI_LONG, to, 0, 1, MPI_LONG, win, NULL));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Rput(&value, 1, MPI_LONG, to, items, 1, MPI_LONG, win, &again));
    MPI_Win_unlock_all(win);
    FAILS(MPI_ERR_RMA_SYNC, MPI_Rput(&value, 1, MPI_LONG, to, 0, 1, MPI_LONG, win, &again));
}

/* More windows than the library caches. */
static void many_windows(void) {
    MPI_Win wins[many];
    long *mine[many];
    for (int w = 0; w < many; ++w) wins[w] = make(&mine[w]);
    for (int w = 0; w < many; ++w) MPI_Win_lock_all(0, wins[w]);
    for (int round = 0; round < 3; ++round)
        for (int w = 0; w < many; ++w) {
            value = 100 * w + round;
            put(to, round, wins[w]);
            MPI_Win_flush(to, wins[w]);
            get(to, round, wins[w]);
            MPI_Win_flush(to, wins[w]);
            CHECK(old == value, "window %d: %ld instead of %ld", w, old, value);
        }
    for (int w = 0; w < many; ++w) MPI_Win_unlock_all(wins[w]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int w = 0; w < many; ++w)
        for (int round = 0; round < 3; ++round)
            CHECK(mine[w][round] == 100 * w + round, "window %d has %ld", w, mine[w][round]);
    for (int w = 0; w < many; ++w) MPI_Win_free(&wins[w]);
}

/* The handle may then be another window's, in which no epoch is open. */
static void freed(void) {
    for (int round = 0; round < 3; ++round) {
        long *mine;
        MPI_Win win = make(&mine), freed_win = win;
        MPI_Win_lock_all(0, win);
        expect_all(MPI_SUCCESS, to, win);
        for (int again = 0; again < 2; ++again) {
            FAILS(MPI_SUCCESS, MPI_Win_flush_all(win));
            FAILS(MPI_SUCCESS, MPI_Win_flush_local(to, win));
            FAILS(MPI_SUCCESS, MPI_Win_sync(win));
        }
        MPI_Win_unlock_all(win);
        FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(win));
        FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_local(to, win));
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&win);
        expect_all(MPI_ERR_WIN, to, freed_win);
        FAILS(MPI_ERR_WIN, MPI_Win_flush(to, freed_win));
        FAILS(MPI_ERR_WIN, MPI_Win_flush_all(freed_win));
        FAILS(MPI_ERR_WIN, MPI_Win_flush_local(to, freed_win));
        FAILS(MPI_ERR_WIN, MPI_Win_sync(freed_win));
        win = make(&mine);
        expect_all(MPI_ERR_RMA_SYNC, to, win);
        FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(to, win));
        MPI_Win_free(&win);
    }
}

static void *in_thread(void *win) {
    expect_all(MPI_SUCCESS, to, *(MPI_Win *)win);
    MPI_Win_unlock_all(*(MPI_Win *)win);
    expect_all(MPI_ERR_RMA_SYNC, to, *(MPI_Win *)win);
    return NULL;
}

/* Two threads, one after the other. */
static void other_thread(MPI_Win win) {
    pthread_t thread;
    MPI_Win_lock_all(0, win);
    expect_all(MPI_SUCCESS, to, win);
    pthread_create(&thread, NULL, in_thread, &win);
    pthread_join(thread, NULL);
    expect_all(MPI_ERR_RMA_SYNC, to, win);
}

int main(int argc, char **argv) {
    int provided;
    long *mine;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    MPI_Win win = make(&mine);
    values(win, mine);
    arguments(win);
    epochs(win);
    requests(win);
    many_windows();
    freed();
    other_thread(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments of all kinds: each returns its error class, changes nothing and waits for nothing. */
// ranks: 1 2
#include "tests/ranks/check.h"

static double memory[8], value = 1, got = 2, other = 3;
static int rank, size;

static void making(void) {
    MPI_Win win = MPI_WIN_NULL;
    void *base;
    MPI_Comm self = MPI_COMM_SELF, inter;
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_SIZE, MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, self, &win));
    FAILS(MPI_ERR_DISP, MPI_Win_create(memory, 8, 0, MPI_INFO_NULL, self, &win));
    FAILS(MPI_ERR_DISP, MPI_Win_create(memory, 8, -4, MPI_INFO_NULL, self, &win));
    FAILS(MPI_ERR_BASE, MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, self, &win));
    FAILS(MPI_ERR_INFO, MPI_Win_create(memory, 8, 1, (MPI_Info)MPI_COMM_WORLD, self, &win));
    FAILS(MPI_ERR_COMM, MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win));
    FAILS(MPI_ERR_ARG, MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, self, NULL));
    FAILS(MPI_ERR_SIZE, MPI_Win_allocate(-8, 1, MPI_INFO_NULL, self, &base, &win));
    FAILS(MPI_ERR_ARG, MPI_Win_allocate(8, 1, MPI_INFO_NULL, self, NULL, &win));
    FAILS(MPI_ERR_DISP, MPI_Win_allocate_shared(8, 0, MPI_INFO_NULL, self, &base, &win));
    FAILS(MPI_ERR_ARG, MPI_Win_create_dynamic(MPI_INFO_NULL, self, NULL));
    if (size > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &self);
        MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 0, &inter);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        FAILS(MPI_ERR_COMM, MPI_Win_create_dynamic(MPI_INFO_NULL, inter, &win));
        MPI_Comm_free(&inter);
        MPI_Comm_free(&self);
    }
    CHECK(win == MPI_WIN_NULL, "a window was made: %x", win);
}

static void elements(MPI_Win win) {
    MPI_Datatype open_type;
    MPI_Type_contiguous(2, MPI_DOUBLE, &open_type);
    MPI_Win_fence(0, win);
    FAILS(MPI_ERR_RANK, MPI_Put(&value, 1, MPI_DOUBLE, size, 0, 1, MPI_DOUBLE, win));
    FAILS(MPI_ERR_RANK, MPI_Get(&value, 1, MPI_DOUBLE, -2, 0, 1, MPI_DOUBLE, win));
    FAILS(MPI_ERR_COUNT, MPI_Put(&value, -1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win));
    FAILS(MPI_ERR_COUNT, MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, -1, MPI_DOUBLE, win));
    FAILS(MPI_ERR_DISP, MPI_Put(&value, 1, MPI_DOUBLE, 0, -1, 1, MPI_DOUBLE, win));
    FAILS(MPI_ERR_TYPE, MPI_Put(&value, 1, open_type, 0, 0, 2, MPI_DOUBLE, win));
    FAILS(MPI_ERR_TYPE, MPI_Put(&value, 2, MPI_DOUBLE, 0, 0, 1, open_type, win));
    FAILS(MPI_ERR_TYPE, MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_DOUBLE, win));
    FAILS(MPI_ERR_BUFFER, MPI_Put(NULL, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win));
    FAILS(MPI_ERR_BUFFER, MPI_Get(MPI_IN_PLACE, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Put(&value, 1, MPI_DOUBLE, 0, 8, 1, MPI_DOUBLE, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Put(&value, 1, MPI_DOUBLE, 0, (MPI_Aint)1 << 61, 1, MPI_DOUBLE, win));
    FAILS(MPI_ERR_TRUNCATE, MPI_Put(memory, 2, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win));
    FAILS(MPI_ERR_TRUNCATE, MPI_Get(&value, 1, MPI_DOUBLE, 0, 0, 2, MPI_DOUBLE, win));
    FAILS(MPI_ERR_ARG, MPI_Rput(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win, NULL));
    FAILS(MPI_ERR_WIN, MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, (MPI_Win)MPI_COMM_WORLD));
    MPI_Win_fence(0, win);
    MPI_Type_free(&open_type);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {}

static int get_accumulate(void *origin, int count, MPI_Datatype type, int result_count, MPI_Op op, MPI_Win win) {
    return MPI_Get_accumulate(origin, count, type, &got, result_count, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, op, win);
}

static void operators(MPI_Win win) {
    MPI_Op own;
    MPI_Datatype pair;
    MPI_Op_create(add, 1, &own);
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Win_fence(0, win);
    FAILS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, own, win));
    FAILS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_NO_OP, win));
    FAILS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_OP_NULL, win));
    FAILS(MPI_ERR_OP, MPI_Accumulate(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BXOR, win));
    FAILS(MPI_ERR_OP, MPI_Fetch_and_op(&value, &got, MPI_DOUBLE, 0, 0, own, win));
    FAILS(MPI_ERR_TYPE, MPI_Fetch_and_op(&value, &got, pair, 0, 0, MPI_SUM, win));
    FAILS(MPI_ERR_BUFFER, MPI_Fetch_and_op(&value, NULL, MPI_DOUBLE, 0, 0, MPI_SUM, win));
    FAILS(MPI_ERR_BUFFER, MPI_Fetch_and_op(NULL, &got, MPI_DOUBLE, 0, 0, MPI_SUM, win));
    FAILS(MPI_ERR_RANK, MPI_Fetch_and_op(&value, &got, MPI_DOUBLE, size, 0, MPI_SUM, win));
    FAILS(MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(&value, &got, MPI_DOUBLE, 0, 8, MPI_SUM, win));
    FAILS(MPI_ERR_TYPE, MPI_Compare_and_swap(&value, &other, &got, MPI_DOUBLE, 0, 0, win));
    FAILS(MPI_ERR_TYPE, MPI_Compare_and_swap(&value, &other, &got, pair, 0, 0, win));
    FAILS(MPI_ERR_BUFFER, MPI_Compare_and_swap(&value, NULL, &got, MPI_LONG, 0, 0, win));
    FAILS(MPI_ERR_DISP, MPI_Compare_and_swap(&value, &other, &got, MPI_LONG, 0, -1, win));
    FAILS(MPI_ERR_OP, get_accumulate(&value, 1, MPI_DOUBLE, 1, own, win));
    FAILS(MPI_ERR_COUNT, get_accumulate(&value, 1, MPI_DOUBLE, -1, MPI_SUM, win));
    FAILS(MPI_ERR_BUFFER, get_accumulate(NULL, 1, MPI_DOUBLE, 1, MPI_SUM, win));
    FAILS(MPI_SUCCESS, get_accumulate(NULL, -1, MPI_DATATYPE_NULL, 1, MPI_NO_OP, win));   /* the origin is not read */
    MPI_Win_fence(0, win);
    MPI_Type_free(&pair);
    MPI_Op_free(&own);
}

static void epochs(MPI_Win win) {
    MPI_Group world, reversed;
    int flag, outside[] = {0};
    FAILS(MPI_ERR_ASSERT, MPI_Win_fence(1, win));
    FAILS(MPI_ERR_ASSERT, MPI_Win_fence(MPI_MODE_NOCHECK, win));
    FAILS(MPI_ERR_ASSERT, MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, win));
    FAILS(MPI_ERR_ASSERT, MPI_Win_lock_all(-1, win));
    FAILS(MPI_ERR_LOCKTYPE, MPI_Win_lock(0, 0, 0, win));
    FAILS(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win));
    FAILS(MPI_ERR_RANK, MPI_Win_unlock(-5, win));
    FAILS(MPI_ERR_RANK, MPI_Win_flush(size, win));
    FAILS(MPI_ERR_GROUP, MPI_Win_post(MPI_GROUP_NULL, 0, win));
    FAILS(MPI_ERR_GROUP, MPI_Win_start(MPI_GROUP_NULL, 0, win));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    FAILS(MPI_ERR_ASSERT, MPI_Win_post(world, MPI_MODE_NOPRECEDE, win));
    FAILS(MPI_ERR_ASSERT, MPI_Win_start(world, MPI_MODE_NOSTORE, win));
    if (size > 1) {
        MPI_Win alone;
        MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &alone);
        MPI_Win_set_errhandler(alone, MPI_ERRORS_RETURN);
        outside[0] = (rank + 1) % size;
        MPI_Group_incl(world, 1, outside, &reversed);
        FAILS(MPI_ERR_GROUP, MPI_Win_post(reversed, 0, alone));
        FAILS(MPI_ERR_GROUP, MPI_Win_start(reversed, 0, alone));
        MPI_Group_free(&reversed);
        MPI_Win_free(&alone);
    }
    MPI_Group_free(&world);
    FAILS(MPI_ERR_ARG, MPI_Win_test(win, NULL));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_test(win, &flag));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_wait(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_local_all(win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win));
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    MPI_Win_unlock(rank, win);
}

static void queries(MPI_Win win) {
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Win null = MPI_WIN_NULL, dynamic;
    MPI_Aint bytes;
    int length, unit;
    void *base;
    FAILS(MPI_ERR_ARG, MPI_Win_get_group(win, NULL));
    FAILS(MPI_ERR_ARG, MPI_Win_set_name(win, NULL));
    FAILS(MPI_ERR_ARG, MPI_Win_get_name(win, name, NULL));
    FAILS(MPI_ERR_INFO, MPI_Win_set_info(win, MPI_INFO_NULL));
    FAILS(MPI_ERR_ARG, MPI_Win_get_info(win, NULL));
    FAILS(MPI_ERR_RANK, MPI_Win_shared_query(win, size, &bytes, &unit, &base));
    FAILS(MPI_ERR_ARG, MPI_Win_shared_query(win, 0, NULL, &unit, &base));
    FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, memory, sizeof memory));
    FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_detach(win, memory));
    FAILS(MPI_ERR_WIN, MPI_Win_get_name((MPI_Win)12345, name, &length));
    FAILS(MPI_ERR_WIN, MPI_Win_free(&null));
    FAILS(MPI_ERR_ARG, MPI_Win_free(NULL));

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_shared_query(dynamic, 0, &bytes, &unit, &base));
    FAILS(MPI_ERR_SIZE, MPI_Win_attach(dynamic, memory, -1));
    FAILS(MPI_ERR_BASE, MPI_Win_attach(dynamic, NULL, 8));
    MPI_Win_attach(dynamic, memory, sizeof memory);
    FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(dynamic, memory + 2, 8));
    FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_detach(dynamic, memory + 1));
    MPI_Win_detach(dynamic, memory);
    MPI_Win_free(&dynamic);
}

int main(int argc, char **argv) {
    MPI_Win win, freed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    making();
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    epochs(win);
    queries(win);
    elements(win);
    operators(win);
    for (int i = 0; i < 8; ++i) CHECK(memory[i] == 0, "refused calls have changed element %d to %g", i, memory[i]);
    freed = win;
    MPI_Win_free(&win);
    FAILS(MPI_ERR_WIN, MPI_Put(&value, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, freed));
    FAILS(MPI_ERR_WIN, MPI_Win_fence(0, freed));
    FAILS(MPI_ERR_WIN, MPI_Win_free(&freed));
    MPI_Finalize();
    return 0;
}

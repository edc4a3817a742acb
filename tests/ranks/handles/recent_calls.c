// SPDX-License-Identifier: BSD-3-Clause
// Collectives that are repeated with the same handles and numbers: the handle was freed and now names another object;
// buffers, error handler or algorithm differ; or one argument of a previously correct call is wrong.
// ranks: 1 2 4
#include "tests/ranks/check.h"

#include <string.h>

static int rank, size;

enum { repeats = 3 };

/* Different buffers each time, in place and not, at each root. */
static void buffers(MPI_Comm comm) {
    int me, n, in[4], out[4], all[4 * 64], parts[4 * 64];
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < 4; ++i) {
        in[i] = 10 * me + i;
        int const sum = 10 * n * (n - 1) / 2 + n * i, before = 10 * me * (me + 1) / 2 + (me + 1) * i;
        MPI_Allreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm);
        CHECK(out[i] == sum, "allreduce %d: %d", i, out[i]);
        out[i] = in[i];
        MPI_Allreduce(MPI_IN_PLACE, &out[i], 1, MPI_INT, MPI_SUM, comm);
        CHECK(out[i] == sum, "allreduce in place %d: %d", i, out[i]);
        MPI_Scan(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm);
        CHECK(out[i] == before, "scan %d: %d", i, out[i]);
        for (int root = 0; root < n; ++root) {
            int const at_root = me == root;
            out[i] = at_root ? in[i] : -1;
            MPI_Bcast(&out[i], 1, MPI_INT, root, comm);
            CHECK(out[i] == 10 * root + i, "bcast %d from %d: %d", i, root, out[i]);
            MPI_Reduce(&in[i], at_root ? &out[i] : NULL, 1, MPI_INT, MPI_SUM, root, comm);
            CHECK(!at_root || out[i] == sum, "reduce %d to %d: %d", i, root, out[i]);
            out[i] = in[i];
            MPI_Reduce(at_root ? MPI_IN_PLACE : &in[i], at_root ? &out[i] : NULL, 1, MPI_INT, MPI_SUM, root, comm);
            CHECK(!at_root || out[i] == sum, "reduce in place %d to %d: %d", i, root, out[i]);
            for (int in_place = 0; in_place < 2; ++in_place) {
                memset(all, 0, sizeof all);
                all[i * n + me] = in[i];
                MPI_Gather(at_root && in_place ? MPI_IN_PLACE : &in[i], 1, MPI_INT, at_root ? &all[i * n] : NULL, 1,
                           MPI_INT, root, comm);
                for (int r = 0; at_root && r < n; ++r) CHECK(all[i * n + r] == 10 * r + i, "gather %d", all[i * n + r]);
                for (int r = 0; r < n; ++r) parts[i * n + r] = 1000 * root + 10 * r + i;
                MPI_Scatter(at_root ? &parts[i * n] : NULL, 1, MPI_INT, at_root && in_place ? MPI_IN_PLACE : &out[i], 1,
                            MPI_INT, root, comm);
                CHECK((at_root && in_place) || out[i] == 1000 * root + 10 * me + i, "scatter %d: %d", i, out[i]);
            }
        }
        for (int in_place = 0; in_place < 2; ++in_place) {
            memset(all, 0, sizeof all);
            all[i * n + me] = in[i];
            MPI_Allgather(in_place ? MPI_IN_PLACE : &in[i], 1, MPI_INT, &all[i * n], 1, MPI_INT, comm);
            for (int r = 0; r < n; ++r) CHECK(all[i * n + r] == 10 * r + i, "allgather %d", all[i * n + r]);
            for (int r = 0; r < n; ++r) all[i * n + r] = parts[i * n + r] = 100 * me + r + i;
            MPI_Alltoall(in_place ? MPI_IN_PLACE : &parts[i * n], 1, MPI_INT, &all[i * n], 1, MPI_INT, comm);
            for (int r = 0; r < n; ++r) CHECK(all[i * n + r] == 100 * r + me + i, "alltoall %d", all[i * n + r]);
        }
        MPI_Barrier(comm);
    }
}

/* The same handle names a datatype of another size, first uncommitted. */
static void freed_datatypes(void) {
    int data[8], out[8];
    MPI_Datatype first = MPI_DATATYPE_NULL, next;
    for (int ints = 1; ints <= 4; ++ints) {
        MPI_Type_contiguous(ints, MPI_INT, &next);
        if (ints == 1) first = next;
        CHECK(next == first, "%#x is not %#x again: nothing to test", next, first);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        FAILS(MPI_ERR_TYPE, MPI_Bcast(data, 1, next, 0, MPI_COMM_WORLD));
        FAILS(MPI_ERR_TYPE, MPI_Alltoall(data, 0, next, out, 0, next, MPI_COMM_WORLD));
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Type_commit(&next);
        for (int k = 0; k < repeats; ++k) {
            for (int i = 0; i < 8; ++i) data[i] = rank == 0 ? 100 * ints + i : -1;
            MPI_Bcast(data, 1, next, 0, MPI_COMM_WORLD);
            for (int i = 0; i < 8; ++i)
                CHECK(data[i] == (rank == 0 || i < ints ? 100 * ints + i : -1), "%d ints: %d", ints, data[i]);
        }
        MPI_Type_free(&next);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        FAILS(MPI_ERR_TYPE, MPI_Bcast(data, 1, first, 0, MPI_COMM_WORLD));
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
}

static void keep_left(void *in, void *inout, int *n, MPI_Datatype *type) {
    for (int i = 0; i < *n; ++i) ((int *)inout)[i] = ((int *)in)[i];
}
static void keep_right(void *in, void *inout, int *n, MPI_Datatype *type) {}

static void freed_operators(void) {
    MPI_Op first = MPI_OP_NULL, next;
    for (int right = 0; right < 2; ++right) {
        MPI_Op_create(right ? keep_right : keep_left, 0, &next);
        if (!right) first = next;
        CHECK(next == first, "%#x is not %#x again: nothing to test", next, first);
        for (int k = 0; k < repeats; ++k) {
            int out = -1;
            MPI_Allreduce(&rank, &out, 1, MPI_INT, next, MPI_COMM_WORLD);
            CHECK(out == (right ? size - 1 : 0), "rank %d is kept", out);
            MPI_Scan(&rank, &out, 1, MPI_INT, next, MPI_COMM_WORLD);
            CHECK(out == (right ? rank : 0), "rank %d is kept", out);
        }
        MPI_Op_free(&next);
    }
}

/* The same handle names a communicator in another order, and then one of fewer ranks. */
static void freed_communicators(void) {
    MPI_Comm first = MPI_COMM_NULL, next;
    for (int k = 0; k < 3; ++k) {
        MPI_Comm_split(MPI_COMM_WORLD, k == 2 ? rank % 2 : 0, k == 1 ? -rank : rank, &next);
        if (k == 0) first = next;
        CHECK(next == first, "%#x is not %#x again: nothing to test", next, first);
        for (int i = 0; i < repeats; ++i) {
            int from = rank;
            MPI_Bcast(&from, 1, MPI_INT, 0, next);
            CHECK(from == (k == 0 ? 0 : k == 1 ? size - 1 : rank % 2), "split %d: root %d", k, from);
            buffers(next);
        }
        MPI_Comm_free(&next);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        FAILS(MPI_ERR_COMM, MPI_Barrier(first));
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
}

/* Two kinds of communicators in turn, which use the same cache entries. */
static void in_turn(void) {
    MPI_Comm many[6];
    for (int i = 0; i < 6; ++i) MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -rank : rank, &many[i]);
    for (int k = 0; k < repeats; ++k)
        for (int i = 0; i < 6; ++i) {
            int from = rank;
            MPI_Bcast(&from, 1, MPI_INT, 0, many[i]);
            CHECK(from == (i % 2 ? size - 1 : 0), "communicator %d: root %d", i, from);
            buffers(many[i]);
        }
    for (int i = 0; i < 6; ++i) MPI_Comm_free(&many[i]);
}

static int error_count;
static MPI_Comm error_comm;
static void count_error(MPI_Comm *comm, int *code, ...) {
    ++error_count;
    error_comm = *comm;
}

/* Each is a correct call, then one with one wrong argument, then the correct call again. */
static void almost_right(MPI_Comm comm) {
    double in[64] = {1}, out[64];
    for (int k = 0; k < repeats; ++k) {
        MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, comm);
        FAILS(MPI_ERR_COUNT, MPI_Allreduce(in, out, -1, MPI_DOUBLE, MPI_SUM, comm));
        FAILS(MPI_ERR_TYPE, MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
        FAILS(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, comm));
        FAILS(MPI_ERR_BUFFER, MPI_Allreduce(in, in, 1, MPI_DOUBLE, MPI_SUM, comm));
        FAILS(MPI_ERR_BUFFER, MPI_Allreduce(NULL, out, 1, MPI_DOUBLE, MPI_SUM, comm));
        FAILS(MPI_ERR_BUFFER, MPI_Allreduce(in, NULL, 1, MPI_DOUBLE, MPI_SUM, comm));
        FAILS(MPI_ERR_BUFFER, MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_SUM, comm));
        MPI_Scan(in, out, 1, MPI_DOUBLE, MPI_SUM, comm);
        FAILS(MPI_ERR_BUFFER, MPI_Scan(in, in, 1, MPI_DOUBLE, MPI_SUM, comm));
        MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
        FAILS(MPI_ERR_ROOT, MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, size, comm));
        FAILS(MPI_ERR_BUFFER, MPI_Reduce(rank ? MPI_IN_PLACE : in, rank ? out : in, 1, MPI_DOUBLE, MPI_SUM, 0, comm));
        MPI_Bcast(out, 1, MPI_DOUBLE, 0, comm);
        FAILS(MPI_ERR_BUFFER, MPI_Bcast(MPI_IN_PLACE, 1, MPI_DOUBLE, 0, comm));
        FAILS(MPI_ERR_ROOT, MPI_Bcast(out, 1, MPI_DOUBLE, -1, comm));
        MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, comm);
        FAILS(MPI_ERR_BUFFER, MPI_Gather(rank ? NULL : in, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, comm));
        FAILS(MPI_ERR_BUFFER, MPI_Gather(MPI_IN_PLACE, 1, MPI_DOUBLE, NULL, 1, MPI_DOUBLE, 0, comm));
        MPI_Scatter(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, comm);
        FAILS(MPI_ERR_BUFFER, MPI_Scatter(in, 1, MPI_DOUBLE, rank ? NULL : in, 1, MPI_DOUBLE, 0, comm));
        MPI_Allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm);
        FAILS(MPI_ERR_BUFFER, MPI_Allgather(out + rank, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm));
        FAILS(MPI_ERR_BUFFER, MPI_Allgather(in, 1, MPI_DOUBLE, NULL, 1, MPI_DOUBLE, comm));
        MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm);
        FAILS(MPI_ERR_BUFFER, MPI_Alltoall(out, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm));
        FAILS(MPI_ERR_BUFFER, MPI_Alltoall(NULL, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm));
        FAILS(MPI_ERR_COUNT, MPI_Alltoall(in, -1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm));
    }
}

/* The error handler that is set at the time of the call is called, with the call's communicator. */
static void error_handlers(void) {
    MPI_Comm comm;
    MPI_Errhandler handler;
    int in = 1, out;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    almost_right(comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allreduce(&in, &in, 1, MPI_INT, MPI_SUM, comm);
    CHECK(error_count == 1 && error_comm == comm, "%d errors, on %#x instead of %#x", error_count, error_comm, comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_BUFFER, MPI_Allreduce(&in, &in, 1, MPI_INT, MPI_SUM, comm));
    CHECK(error_count == 1, "%d errors", error_count);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

/* Returns the name of the algorithm of the last allreduce on a communicator. */
static void algorithm_of(MPI_Comm comm, char *text, int room) {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_enum names;
    int index, count, provided, state, item;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_get_index("tutti_allreduce_algorithm", MPI_T_PVAR_CLASS_STATE, &index);
    MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &names, NULL, NULL, NULL, NULL, NULL, NULL);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count);
    MPI_T_pvar_read(session, handle, &state);
    MPI_T_enum_get_item(names, state, &item, text, &room);
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

static void sum(MPI_Comm comm) {
    int out = -1;
    MPI_Allreduce(&rank, &out, 1, MPI_INT, MPI_SUM, comm);
    CHECK(out == size * (size - 1) / 2, "%d", out);
}

/* A hint set between two calls applies to the second one. */
static void hints(void) {
    static const char *const names[] = {"ring", "recursive_doubling", "rank_order", "ring"};
    char text[256];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int k = 0; k < repeats; ++k) sum(comm);
    for (int i = 0; i < 4; ++i) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "tutti_coll_allreduce", names[i]);
        MPI_Comm_set_info(comm, info);
        MPI_Info_free(&info);
        for (int k = 0; k < repeats; ++k) sum(comm);
        algorithm_of(comm, text, sizeof text);
        CHECK(strcmp(text, names[i]) == 0, "%s instead of %s", text, names[i]);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < repeats; ++k) buffers(MPI_COMM_WORLD);
    buffers(MPI_COMM_SELF);
    freed_datatypes();
    freed_operators();
    freed_communicators();
    in_turn();
    error_handlers();
    hints();
    MPI_Finalize();
    return 0;
}

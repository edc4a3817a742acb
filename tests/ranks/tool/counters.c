// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 2 4
// nodes: one, the algorithms are for one node
// env: TUTTI_COLL=allreduce=blocks,bcast=hierarchical TUTTI_STATS=yes
// MPI_T performance variables: their values per handle, session and communicator, and all wrong calls.
#include "tests/ranks/check.h"

#include <string.h>

static int me, ranks;

static void is(int expected, int got, char const *what) {
    CHECK(got == expected, "%s gave %d instead of %d", what, got, expected);
}
#define IS(expected, call) is(expected, call, #call)

static int find(char const *name, int var_class) {
    int index = -1;
    IS(MPI_SUCCESS, MPI_T_pvar_get_index(name, var_class, &index));
    return index;
}

static MPI_T_pvar_handle allocate(MPI_T_pvar_session session, char const *name, int var_class, MPI_Comm *comm) {
    MPI_T_pvar_handle handle;
    int count = 0;
    IS(MPI_SUCCESS, MPI_T_pvar_handle_alloc(session, find(name, var_class), comm, &handle, &count));
    CHECK(count == 1, "%s has %d elements", name, count);
    return handle;
}

static unsigned long long value(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    unsigned long long n = 12345;
    IS(MPI_SUCCESS, MPI_T_pvar_read(session, handle, &n));
    return n;
}

static void reduce_on(MPI_Comm comm, int calls) {
    double in = me, out;
    for (int i = 0; i < calls; ++i) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
}

static void calls_of_a_communicator(MPI_T_pvar_session session, MPI_Comm comm) {
    MPI_T_pvar_handle calls = allocate(session, "tutti_allreduce_calls", MPI_T_PVAR_CLASS_COUNTER, &comm);
    reduce_on(comm, 1);
    CHECK(value(session, calls) == 0, "counts before it was started");
    IS(MPI_SUCCESS, MPI_T_pvar_start(session, calls));
    reduce_on(comm, 2);
    reduce_on(MPI_COMM_SELF, 5);
    CHECK(value(session, calls) == 2, "%llu calls", value(session, calls));
    IS(MPI_SUCCESS, MPI_T_pvar_start(session, calls));   // a second start has no effect
    IS(MPI_SUCCESS, MPI_T_pvar_stop(session, calls));
    reduce_on(comm, 3);
    CHECK(value(session, calls) == 2, "counts while stopped: %llu", value(session, calls));
    IS(MPI_SUCCESS, MPI_T_pvar_start(session, calls));
    reduce_on(comm, 1);
    CHECK(value(session, calls) == 3, "%llu calls", value(session, calls));
    unsigned long long n = 100;
    IS(MPI_SUCCESS, MPI_T_pvar_write(session, calls, &n));
    reduce_on(comm, 1);
    IS(MPI_SUCCESS, MPI_T_pvar_readreset(session, calls, &n));
    CHECK(n == 101, "%llu after writing 100", n);
    reduce_on(comm, 4);
    CHECK(value(session, calls) == 4, "%llu after readreset", value(session, calls));
    IS(MPI_SUCCESS, MPI_T_pvar_reset(session, calls));
    CHECK(value(session, calls) == 0, "%llu after reset", value(session, calls));
    IS(MPI_SUCCESS, MPI_T_pvar_handle_free(session, &calls));
    CHECK(calls == MPI_T_PVAR_HANDLE_NULL, "a freed handle is not null");
}

/// A barrier that rank 0 has not entered is pending, as is a persistent one once it is started.
static void in_flight(MPI_T_pvar_session session) {
    MPI_T_pvar_handle level = allocate(session, "tutti_coll_in_flight", MPI_T_PVAR_CLASS_LEVEL, NULL);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle calls = allocate(session, "tutti_barrier_calls", MPI_T_PVAR_CLASS_COUNTER, &world);
    MPI_Request r[2];
    IS(MPI_SUCCESS, MPI_T_pvar_start(session, calls));
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    CHECK(value(session, level) == 0, "%llu in flight before any was started", value(session, level));
    if (me != 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &r[0]);
        MPI_Start(&r[1]);
        CHECK(value(session, level) == 2, "%llu in flight", value(session, level));
        MPI_Send(NULL, 0, MPI_INT, 0, 77, MPI_COMM_WORLD);
    } else {
        for (int i = 1; i < ranks; ++i)
            MPI_Recv(NULL, 0, MPI_INT, i, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ibarrier(MPI_COMM_WORLD, &r[0]);
        MPI_Start(&r[1]);
    }
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK(value(session, level) == 0, "%llu in flight after all were completed", value(session, level));
    CHECK(value(session, calls) == 2, "%llu barriers were called", value(session, calls));
    MPI_Request_free(&r[1]);
    IS(MPI_SUCCESS, MPI_T_pvar_handle_free(session, &level));
    IS(MPI_SUCCESS, MPI_T_pvar_handle_free(session, &calls));
}

static void bytes_time_and_waits(MPI_T_pvar_session session) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle loaded = allocate(session, "tutti_coll_bytes_loaded", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    MPI_T_pvar_handle bytes = allocate(session, "tutti_bcast_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &world);
    MPI_T_pvar_handle time = allocate(session, "tutti_bcast_time", MPI_T_PVAR_CLASS_TIMER, &world);
    MPI_T_pvar_handle waits = allocate(session, "tutti_waits", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle waited = allocate(session, "tutti_wait_time", MPI_T_PVAR_CLASS_TIMER, NULL);
    IS(MPI_SUCCESS, MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    static char data[100000];
    double start = MPI_Wtime(), seconds = -1;
    for (int root = 0; root < ranks; ++root) MPI_Bcast(data, sizeof data, MPI_CHAR, root, MPI_COMM_WORLD);
    double took = MPI_Wtime() - start;
    if (ranks > 1) CHECK(value(session, loaded) > 0, "broadcasts have loaded nothing");
    CHECK(value(session, bytes) == ranks * sizeof data, "%llu bytes broadcast", value(session, bytes));
    IS(MPI_SUCCESS, MPI_T_pvar_read(session, time, &seconds));
    CHECK(seconds > 0 && seconds <= took, "%g s in broadcasts within %g s", seconds, took);

    unsigned long long before = value(session, waits);
    int all_have_waited = 0;   // on a busy machine, rank 0 may not be the last one
    for (int round = 0; round < 1000 && !all_have_waited; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 0)
            for (start = MPI_Wtime(); MPI_Wtime() - start < 0.02;) {}
        MPI_Barrier(MPI_COMM_WORLD);
        IS(MPI_SUCCESS, MPI_T_pvar_read(session, waited, &seconds));
        int const has_waited = me == 0 || (value(session, waits) > before && seconds > 0.001);
        MPI_Allreduce(&has_waited, &all_have_waited, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    CHECK(all_have_waited, "no wait for a late rank: %g s here", seconds);
    double half = 0.5;
    IS(MPI_SUCCESS, MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    IS(MPI_SUCCESS, MPI_T_pvar_write(session, waited, &half));
    IS(MPI_SUCCESS, MPI_T_pvar_read(session, waited, &seconds));
    CHECK(seconds == 0.5, "%g after writing 0.5", seconds);
    IS(MPI_SUCCESS, MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    CHECK(value(session, loaded) == 0, "%llu after reset of all", value(session, loaded));
}

static void the_algorithm_by_its_name(MPI_T_pvar_session session) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int index = find("tutti_allreduce_algorithm", MPI_T_PVAR_CLASS_STATE), bind, readonly, continuous, atomic, items;
    MPI_Datatype type;
    MPI_T_enum names;
    char name[64];
    int length = sizeof name;
    IS(MPI_SUCCESS, MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, &type, &names, NULL, NULL, &bind, &readonly,
                                        &continuous, &atomic));
    CHECK(type == MPI_INT && bind == MPI_T_BIND_MPI_COMM && readonly && continuous && !atomic, "wrong properties");
    IS(MPI_SUCCESS, MPI_T_enum_get_info(names, &items, name, &length));
    CHECK(items > 3 && strcmp(name, "tutti_allreduce_algorithms") == 0, "%d items of %s", items, name);

    MPI_T_pvar_handle handle = allocate(session, "tutti_allreduce_algorithm", MPI_T_PVAR_CLASS_STATE, &comm);
    for (int call = 0; call < 2; ++call) {
        int state = -1, item = -1;
        IS(MPI_SUCCESS, MPI_T_pvar_read(session, handle, &state));
        length = sizeof name;
        IS(MPI_SUCCESS, MPI_T_enum_get_item(names, state, &item, name, &length));
        CHECK(item == state && strcmp(name, call ? "blocks" : "none") == 0, "item %d, %s", item, name);
        CHECK(length == (int)strlen(name) + 1, "the length of %s is %d", name, length);
        reduce_on(comm, 1);
    }
    IS(MPI_T_ERR_INVALID_ITEM, MPI_T_enum_get_item(names, items, NULL, NULL, NULL));
    IS(MPI_T_ERR_INVALID_ITEM, MPI_T_enum_get_item(names, -1, NULL, NULL, NULL));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_enum_get_info(MPI_T_ENUM_NULL, &items, NULL, NULL));
    IS(MPI_T_ERR_PVAR_NO_STARTSTOP, MPI_T_pvar_start(session, handle));
    IS(MPI_T_ERR_PVAR_NO_STARTSTOP, MPI_T_pvar_stop(session, handle));
    IS(MPI_T_ERR_PVAR_NO_WRITE, MPI_T_pvar_write(session, handle, &items));
    IS(MPI_T_ERR_PVAR_NO_WRITE, MPI_T_pvar_reset(session, handle));
    IS(MPI_T_ERR_PVAR_NO_WRITE, MPI_T_pvar_readreset(session, handle, &items));
    MPI_Comm_free(&comm);
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(session, handle, &items));   // its communicator was freed
    IS(MPI_SUCCESS, MPI_T_pvar_handle_free(session, &handle));
}

static void sessions_apart(MPI_T_pvar_session one) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_session two, freed;
    IS(MPI_SUCCESS, MPI_T_pvar_session_create(&two));
    MPI_T_pvar_handle a = allocate(one, "tutti_allreduce_calls", MPI_T_PVAR_CLASS_COUNTER, &world);
    MPI_T_pvar_handle b = allocate(two, "tutti_allreduce_calls", MPI_T_PVAR_CLASS_COUNTER, &world);
    IS(MPI_SUCCESS, MPI_T_pvar_start(one, a));
    reduce_on(MPI_COMM_WORLD, 1);
    IS(MPI_SUCCESS, MPI_T_pvar_start(two, MPI_T_PVAR_ALL_HANDLES));
    reduce_on(MPI_COMM_WORLD, 1);
    IS(MPI_SUCCESS, MPI_T_pvar_reset(two, b));
    reduce_on(MPI_COMM_WORLD, 1);
    CHECK(value(one, a) == 3 && value(two, b) == 1, "%llu and %llu", value(one, a), value(two, b));
    unsigned long long n;
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(one, b, &n));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_start(two, a));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_handle_free(two, &a));
    freed = two;
    IS(MPI_SUCCESS, MPI_T_pvar_session_free(&two));
    CHECK(two == MPI_T_PVAR_SESSION_NULL, "a freed session is not null");
    IS(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_read(freed, b, &n));
    IS(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_session_free(&two));
    CHECK(value(one, a) == 3, "the other session's end has changed %llu", value(one, a));
    IS(MPI_SUCCESS, MPI_T_pvar_handle_free(one, &a));
}

static void wrong_arguments(MPI_T_pvar_session session) {
    int n, count;
    unsigned long long v;
    MPI_T_pvar_handle handle;
    MPI_Comm nothing = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    IS(MPI_SUCCESS, MPI_T_pvar_get_num(&n));
    IS(MPI_T_ERR_INVALID_INDEX, MPI_T_pvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                                    NULL));
    IS(MPI_T_ERR_INVALID_INDEX, MPI_T_pvar_handle_alloc(session, -1, NULL, &handle, &count));
    IS(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_handle_alloc(MPI_T_PVAR_SESSION_NULL, 0, NULL, &handle, &count));
    IS(MPI_T_ERR_INVALID_NAME, MPI_T_pvar_get_index("tutti_nothing", MPI_T_PVAR_CLASS_COUNTER, &n));
    IS(MPI_T_ERR_INVALID_NAME, MPI_T_pvar_get_index("tutti_waits", MPI_T_PVAR_CLASS_STATE, &n));
    IS(MPI_T_ERR_INVALID, MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_STATE, &n));
    n = find("tutti_bcast_calls", MPI_T_PVAR_CLASS_COUNTER);
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_handle_alloc(session, n, &nothing, &handle, &count));
    IS(MPI_T_ERR_INVALID, MPI_T_pvar_handle_alloc(session, n, NULL, &handle, &count));
    IS(MPI_T_ERR_INVALID, MPI_T_pvar_handle_alloc(session, n, &world, NULL, &count));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(session, MPI_T_PVAR_HANDLE_NULL, &v));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &v));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_start(session, MPI_T_PVAR_HANDLE_NULL));
    MPI_T_pvar_handle level = allocate(session, "tutti_arena_highest", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    IS(MPI_T_ERR_INVALID, MPI_T_pvar_read(session, level, NULL));
    IS(MPI_SUCCESS, MPI_T_pvar_handle_free(session, &level));
}

/// Each variable can be found by index and by name.
static void all_of_them(MPI_T_pvar_session session) {
    int n, index;
    MPI_Comm world = MPI_COMM_WORLD;
    IS(MPI_SUCCESS, MPI_T_pvar_get_num(&n));
    for (int i = 0; i < n; ++i) {
        char name[128], description[512], cut[6];
        int name_length = sizeof name, description_length = sizeof description, cut_length = sizeof cut, var_class;
        union { double seconds; unsigned long long n; int item; } v;
        IS(MPI_SUCCESS, MPI_T_pvar_get_info(i, name, &name_length, NULL, &var_class, NULL, NULL, description,
                                            &description_length, NULL, NULL, NULL, NULL));
        CHECK(strncmp(name, "tutti_", 6) == 0 && name_length == (int)strlen(name) + 1, "%s, %d", name, name_length);
        CHECK(description[description_length - 2] == '.', "no period at the end: %s", description);
        IS(MPI_SUCCESS, MPI_T_pvar_get_index(name, var_class, &index));
        CHECK(index == i, "%s is found at %d, not %d", name, index, i);
        IS(MPI_SUCCESS, MPI_T_pvar_get_info(i, cut, &cut_length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                            NULL));
        CHECK(strcmp(cut, "tutti") == 0 && cut_length == name_length, "cut to %s, %d needed", cut, cut_length);
        MPI_T_pvar_handle handle = allocate(session, name, var_class, &world);
        IS(MPI_SUCCESS, MPI_T_pvar_read(session, handle, &v));
        IS(MPI_SUCCESS, MPI_T_pvar_handle_free(session, &handle));
    }
}

int main(int argc, char **argv) {
    int provided = -1;
    MPI_T_pvar_session session, early;
    unsigned long long v;
    IS(MPI_T_ERR_NOT_INITIALIZED, MPI_T_pvar_get_num(&provided));
    IS(MPI_T_ERR_NOT_INITIALIZED, MPI_T_finalize());
    IS(MPI_SUCCESS, MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided == MPI_THREAD_MULTIPLE, "threads: %d", provided);
    IS(MPI_SUCCESS, MPI_T_pvar_session_create(&early));
    MPI_T_pvar_handle loaded = allocate(early, "tutti_coll_bytes_loaded", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    IS(MPI_SUCCESS, MPI_T_pvar_start(early, loaded));
    CHECK(value(early, loaded) == 0, "loaded before MPI_Init");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    IS(MPI_SUCCESS, MPI_T_init_thread(MPI_THREAD_SINGLE, NULL));
    IS(MPI_SUCCESS, MPI_T_pvar_session_create(&session));
    calls_of_a_communicator(session, MPI_COMM_WORLD);
    the_algorithm_by_its_name(session);
    sessions_apart(session);
    wrong_arguments(session);
    all_of_them(session);
    bytes_time_and_waits(session);
    in_flight(session);
    IS(MPI_SUCCESS, MPI_T_pvar_session_free(&session));
    MPI_Finalize();

    if (ranks > 1) CHECK(value(early, loaded) > 0, "nothing was loaded since before MPI_Init");
    IS(MPI_SUCCESS, MPI_T_finalize());
    value(early, loaded);   // one of two
    IS(MPI_SUCCESS, MPI_T_finalize());
    IS(MPI_T_ERR_NOT_INITIALIZED, MPI_T_pvar_read(early, loaded, &v));
    return 0;
}

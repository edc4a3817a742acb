// SPDX-License-Identifier: BSD-3-Clause
// Messages of all sizes into posted receives, from one source or any, with equal and different tags and communicators,
// cancelled, truncated, and from several threads; and sends from both sides before either posts a receive.
// ranks: 2 3
// nodes: one, it counts bytes that are copied directly between ranks of a node
// unchecked: --check buffers messages, so none is copied directly, and here both ranks send first
#include "tests/ranks/check.h"

#include <pthread.h>
#include <string.h>

enum { most = 70000 };
static int me, ranks;
static MPI_Comm other_comm;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle counter;
static char *out, *in;   // in shared memory, if available

/// Returns the number of bytes that this rank has stored or loaded directly.
static unsigned long long direct(void) {
    unsigned long long n = 0;
    CHECK(MPI_T_pvar_read(session, counter, &n) == MPI_SUCCESS, "the counter");
    return n;
}

static void count_bytes(void) {
    int index, n, provided;
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    CHECK(MPI_T_pvar_get_index("tutti_bytes_direct", MPI_T_PVAR_CLASS_AGGREGATE, &index) == MPI_SUCCESS, "no counter");
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &counter, &n);
    MPI_T_pvar_start(session, counter);
}

static void is(const char *p, int n, int value, const char *what) {
    for (int i = 0; i < n; ++i) CHECK(p[i] == (char)value, "%s: byte %d of %d is %d, not %d", what, i, n, p[i], value);
}

/// A message is copied directly into a receive that was posted before the barrier.
static void one_copy(void) {
    static const int sizes[] = {256, 4096, 16384, 40000};
    const char *arena = getenv("TUTTI_ARENA");
    int shared = !arena || strcmp(arena, "no") != 0;
    for (int k = 0; k < 4; ++k) {
        MPI_Request r;
        unsigned long long before = 0;
        if (me == 1) MPI_Irecv(in, most, MPI_CHAR, 0, 3, MPI_COMM_WORLD, &r);
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 0) {
            memset(out, 40 + k, (size_t)sizes[k]);
            before = direct();
            MPI_Send(out, sizes[k], MPI_CHAR, 1, 3, MPI_COMM_WORLD);
            CHECK(direct() - before == (unsigned long long)(shared ? sizes[k] : 0), "%d bytes: %llu direct", sizes[k],
                  direct() - before);
            memset(out, 1, (size_t)sizes[k]);
        }
        if (me == 1) {
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            is(in, sizes[k], 40 + k, "posted");
        }
    }
}

/// Blocking sends from both sides, before either rank receives.
static void head_to_head(void) {
    if (me > 1) return;
    static const int sizes[] = {1024, 4096, 16384};
    for (int round = 0; round < 300; ++round) {
        int n = sizes[round % 3];
        memset(out, round + me, (size_t)n);
        MPI_Send(out, n, MPI_CHAR, 1 - me, 5, MPI_COMM_WORLD);
        MPI_Recv(in, n, MPI_CHAR, 1 - me, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        is(in, n, round + 1 - me, "head to head");
    }
}

/// Each other rank sends five messages to rank 0, which has receives of each kind; each receive must match in order.
static void order(int round) {
    enum { n = 2000, each = 5 };
    if (me != 0) {
        for (int i = 0; i < each; ++i) {
            memset(out, 10 * me + i, n);
            MPI_Send(out, n, MPI_CHAR, 0, i % 2, i == 3 ? other_comm : MPI_COMM_WORLD);
        }
        return;
    }
    MPI_Request any, other, rest;
    MPI_Status s;
    char *p = in;
    int first = 0, from = 0;
    MPI_Irecv(p + 60000, n, MPI_CHAR, 1, 1, other_comm, &other);
    if (round % 2) MPI_Irecv(p, n, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &any);
    if (round % 3 == 0) MPI_Irecv(p + 50000, n, MPI_CHAR, 1, 9, MPI_COMM_WORLD, &rest);
    MPI_Recv(p + 4000, n, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &s);
    is(p + 4000, n, 11, "the only one of tag 1");
    if (round % 2) {
        MPI_Wait(&any, &s);
        from = s.MPI_SOURCE;
        is(p, n, 10 * from, "the first one, for any source");
    }
    for (int r = 1; r < ranks; ++r) {
        first = from == r;
        for (int i = first ? 2 : 0; i < each; i += 2) {
            MPI_Recv(p + 8000, n, MPI_CHAR, r, 0, MPI_COMM_WORLD, &s);
            is(p + 8000, n, 10 * r + i, "in turn");
        }
        if (r != 1) MPI_Recv(p, n, MPI_CHAR, r, 1, MPI_COMM_WORLD, &s);
        if (r != 1) MPI_Recv(p, n, MPI_CHAR, r, 1, other_comm, &s);
    }
    MPI_Wait(&other, &s);
    is(p + 60000, n, 13, "of the other communicator");
    if (round % 3 == 0) {
        int flag;
        MPI_Cancel(&rest);
        MPI_Wait(&rest, &s);
        MPI_Test_cancelled(&s, &flag);
        CHECK(flag, "an unmatched receive was not cancelled");
    }
}

/// A receive is cancelled while a message for it may be in flight: either it gets the message, or the next receive
/// does.
static void cancelled(int round) {
    enum { n = 8192 };
    MPI_Request r;
    MPI_Status s;
    int flag, count;
    if (me > 1) return;
    if (me == 1) {
        memset(out, round, n);
        MPI_Send(out, n, MPI_CHAR, 0, 6, MPI_COMM_WORLD);
        MPI_Recv(in, 1, MPI_CHAR, 0, 6, MPI_COMM_WORLD, &s);
        return;
    }
    memset(in, -1, n);
    MPI_Irecv(in, n, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &r);
    for (volatile int i = 0; i < round * 7 % 1000; ++i) {}
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Test_cancelled(&s, &flag);
    if (flag) {
        is(in, n, -1, "cancelled");
        MPI_Recv(in, n, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &s);
    }
    MPI_Get_count(&s, MPI_CHAR, &count);
    CHECK(count == n, "%d bytes", count);
    is(in, n, round, "after cancelling");
    MPI_Send(out, 1, MPI_CHAR, 1, 6, MPI_COMM_WORLD);
}

static void truncated(void) {
    enum { n = 8192 };
    MPI_Status s;
    int count;
    if (me > 1) return;
    for (int round = 0; round < 20; ++round) {
        if (me == 1) {
            MPI_Ssend(out, n, MPI_CHAR, 0, 4, MPI_COMM_WORLD);
            continue;
        }
        in[n - 1] = 77;
        FAILS(MPI_ERR_TRUNCATE, MPI_Recv(in, n - 1, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &s));
        MPI_Get_count(&s, MPI_CHAR, &count);
        CHECK(count == n - 1 && in[n - 1] == 77, "%d bytes, then %d", count, in[n - 1]);
    }
}

/// Each thread of the two ranks has its own tag and half of the shared memory.
static void *exchange(void *number) {
    int t = *(int *)number;
    char *a = out + t * (most / 2), *b = in + t * (most / 2);
    for (int round = 0; round < 200; ++round) {
        int n = 1000 + round * 131 % 20000;
        memset(a, round + me + t, (size_t)n);
        if (round % 2)
            MPI_Sendrecv(a, n, MPI_CHAR, 1 - me, t, b, n, MPI_CHAR, 1 - me, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (me == t) MPI_Send(a, n, MPI_CHAR, 1 - me, t, MPI_COMM_WORLD);
        else MPI_Recv(b, n, MPI_CHAR, 1 - me, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (round % 2 || me != t) is(b, n, round + 1 - me + t, "threads");
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided, numbers[2] = {0, 1};
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &other_comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Alloc_mem(most, MPI_INFO_NULL, &out);
    MPI_Alloc_mem(most, MPI_INFO_NULL, &in);
    count_bytes();
    one_copy();
    head_to_head();
    for (int round = 0; round < 60; ++round) order(round), MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 300; ++round) cancelled(round);
    truncated();
    if (me < 2) {
        pthread_create(&thread, NULL, exchange, &numbers[1]);
        exchange(&numbers[0]);
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Free_mem(in), MPI_Free_mem(out);
    MPI_Comm_free(&other_comm);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// MPI_Isendrecv and MPI_Isendrecv_replace: rings in both directions at the same time, in several sizes and layouts, of
// a rank with itself, and with MPI_PROC_NULL; statuses and errors; and a request that is freed directly after the call.
// ranks: 1 2 4
// may warn: T07
#include "tests/ranks/check.h"

static const int sizes[] = {0, 1, 1000, 300000};
static int me, ranks, out[300000], in[300000], turned[300000];

static int value(int from, int to, int i) { return from * 1000003 + to * 101 + i; }

static void status_is(const MPI_Status *s, int source, int tag, int count, const char *what) {
    int n = -1;
    MPI_Get_count(s, MPI_INT, &n);
    CHECK(s->MPI_SOURCE == source && s->MPI_TAG == tag && n == count, "%s: source %d tag %d count %d", what,
          s->MPI_SOURCE, s->MPI_TAG, n);
}

static void rings(int n) {
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
    MPI_Request r[2];
    MPI_Status s[2];
    for (int i = 0; i < n; ++i) out[i] = value(me, next, i), turned[i] = value(me, before, i), in[i] = -1;
    MPI_Isendrecv(out, n, MPI_INT, next, 1, in, n, MPI_INT, before, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isendrecv_replace(turned, n, MPI_INT, before, 2, next, MPI_ANY_TAG, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, s);
    status_is(&s[0], before, 1, n, "MPI_Isendrecv");
    status_is(&s[1], next, 2, n, "MPI_Isendrecv_replace");
    CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL, "requests are left: 0x%x 0x%x", r[0], r[1]);
    for (int i = 0; i < n; ++i) {
        CHECK(in[i] == value(before, me, i), "in[%d] of %d is %d", i, n, in[i]);
        CHECK(turned[i] == value(next, me, i), "turned[%d] of %d is %d", i, n, turned[i]);
    }
}

/// Replaces every second integer; the gaps are unchanged.
static void with_gaps(void) {
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks, flag = 0;
    MPI_Datatype second;
    MPI_Request r;
    MPI_Status s;
    MPI_Type_vector(50000, 1, 2, MPI_INT, &second);
    MPI_Type_commit(&second);
    for (int i = 0; i < 100000; ++i) out[i] = value(me, 0, i);
    MPI_Isendrecv_replace(out, 1, second, next, 3, before, 3, MPI_COMM_WORLD, &r);
    MPI_Type_free(&second);
    while (!flag) MPI_Test(&r, &flag, &s);
    status_is(&s, before, 3, 50000, "with gaps");
    for (int i = 0; i < 99999; ++i) CHECK(out[i] == value(i % 2 ? me : before, 0, i), "out[%d] is %d", i, out[i]);
}

static void proc_null(void) {
    MPI_Request r;
    MPI_Status s;
    in[0] = 7;
    MPI_Isendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 1, in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, &s);
    status_is(&s, MPI_PROC_NULL, MPI_ANY_TAG, 0, "from MPI_PROC_NULL");
    MPI_Isendrecv_replace(in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, &s);
    CHECK(in[0] == 7, "MPI_PROC_NULL sent %d", in[0]);
}

static void wrong(void) {
    MPI_Request r;
    MPI_Status s;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Isendrecv(out, 2, MPI_INT, 0, 1, in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r);
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&r, &s));
    CHECK(r == MPI_REQUEST_NULL, "r is 0x%x", r);
    FAILS(MPI_ERR_COUNT, MPI_Isendrecv(out, -1, MPI_INT, 0, 1, in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
    FAILS(MPI_ERR_COUNT, MPI_Isendrecv(out, 1, MPI_INT, 0, 1, in, -1, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
    FAILS(MPI_ERR_RANK, MPI_Isendrecv(out, 1, MPI_INT, 1, 1, in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
    FAILS(MPI_ERR_RANK, MPI_Isendrecv_replace(out, 1, MPI_INT, 0, 1, -9, 1, MPI_COMM_SELF, &r));
    FAILS(MPI_ERR_TAG, MPI_Isendrecv_replace(out, 1, MPI_INT, 0, -1, 0, 1, MPI_COMM_SELF, &r));
    FAILS(MPI_ERR_TYPE, MPI_Isendrecv_replace(out, 1, MPI_DATATYPE_NULL, 0, 1, 0, 1, MPI_COMM_SELF, &r));
    FAILS(MPI_ERR_ARG, MPI_Isendrecv_replace(out, 1, MPI_INT, 0, 1, 0, 1, MPI_COMM_SELF, NULL));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void freed_directly(void) {
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
    MPI_Request r;
    for (int i = 0; i < 300000; ++i) turned[i] = me;
    MPI_Isendrecv_replace(turned, 300000, MPI_INT, next, 4, before, 4, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    int here = 0;
    volatile int *first = turned, *last = turned + 299999;
    while (*first != before || *last != before)   // any call that makes progress
        MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
    CHECK(!here, "received a message that was never sent%s", "");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 4; ++i) rings(sizes[i]);
    with_gaps();
    proc_null();
    wrong();
    freed_directly();
    MPI_Finalize();
    return 0;
}

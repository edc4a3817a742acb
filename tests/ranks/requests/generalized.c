// SPDX-License-Identifier: BSD-3-Clause
// Generalized requests: when each callback is called, by which call, with which arguments, and which call returns its
// error.
// ranks: 1 2
#include "tests/ranks/check.h"

/// The extra state of a request: the number of calls of each callback, and the results to return.
struct work {
    int queries, frees, cancels, cancelled_when_complete;
    int query_code, free_code, cancel_code;
    int elements;
};

static int query(void *extra_state, MPI_Status *status) {
    struct work *w = extra_state;
    ++w->queries;
    CHECK(w->frees == 0, "query_fn after free_fn (%d times)", w->frees);
    MPI_Status_set_elements(status, MPI_INT, w->elements);
    MPI_Status_set_cancelled(status, w->cancels > 0);
    status->MPI_SOURCE = 7;
    status->MPI_TAG = 8;
    return w->query_code;
}

static int release(void *extra_state) {
    struct work *w = extra_state;
    ++w->frees;
    return w->free_code;
}

static int cancel(void *extra_state, int complete) {
    struct work *w = extra_state;
    ++w->cancels;
    w->cancelled_when_complete = complete;
    return w->cancel_code;
}

static MPI_Request start(struct work *w) {
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Grequest_start(query, release, cancel, w, &r);
    CHECK(r != MPI_REQUEST_NULL, "no request%s", "");
    return r;
}

static void check_status(const MPI_Status *s, int elements, int cancelled, const char *call) {
    int n = -1, flag = -1;
    MPI_Get_count(s, MPI_INT, &n);
    MPI_Test_cancelled(s, &flag);
    CHECK(s->MPI_SOURCE == 7 && s->MPI_TAG == 8 && n == elements && flag == cancelled,
          "%s: source %d tag %d count %d cancelled %d", call, s->MPI_SOURCE, s->MPI_TAG, n, flag);
}

static void called(const struct work *w, int queries, int frees, const char *when) {
    CHECK(w->queries == queries && w->frees == frees, "%s: query_fn %d times, free_fn %d", when, w->queries, w->frees);
}

static void one_at_a_time(void) {
    struct work w = {.elements = 3};
    MPI_Request r = start(&w);
    MPI_Status s;
    int flag = -1;
    MPI_Test(&r, &flag, &s);
    CHECK(!flag, "complete before MPI_Grequest_complete%s", "");
    MPI_Request_get_status(r, &flag, &s);
    CHECK(!flag, "complete before MPI_Grequest_complete%s", "");
    called(&w, 0, 0, "before MPI_Grequest_complete");
    MPI_Grequest_complete(r);
    called(&w, 0, 0, "after MPI_Grequest_complete");
    for (int i = 1; i <= 2; ++i) {
        MPI_Request_get_status(r, &flag, &s);
        CHECK(flag, "not complete%s", "");
        check_status(&s, 3, 0, "MPI_Request_get_status");
        called(&w, i, 0, "MPI_Request_get_status");
    }
    MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&r, &s);
    check_status(&s, 3, 0, "MPI_Wait");
    called(&w, 4, 1, "MPI_Wait");
    CHECK(r == MPI_REQUEST_NULL, "r is 0x%x", r);
    struct work v = {0};
    r = start(&v);
    MPI_Grequest_complete(r);
    MPI_Test(&r, &flag, MPI_STATUS_IGNORE);   // query_fn gets a status even with MPI_STATUS_IGNORE
    CHECK(flag && r == MPI_REQUEST_NULL, "flag %d", flag);
    called(&v, 1, 1, "MPI_Test");
}

static void among_others(void) {
    struct work w[3] = {{.elements = 1}, {.elements = 2}, {.elements = 3}};
    MPI_Request r[5];
    MPI_Status s[5];
    int x = 0, y = 5, index = -1, flag = -1, count = -1, indices[5];
    for (int i = 0; i < 3; ++i) r[i] = start(&w[i]);
    MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[3]);
    MPI_Isend(&y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r[4]);
    MPI_Testall(5, r, &flag, s);
    CHECK(!flag, "all are complete%s", "");
    MPI_Waitall(2, r + 3, s + 3);
    MPI_Grequest_complete(r[1]);
    MPI_Waitany(5, r, &index, s);
    CHECK(index == 1 && r[1] == MPI_REQUEST_NULL, "index %d", index);
    check_status(s, 2, 0, "MPI_Waitany");
    MPI_Testany(5, r, &index, &flag, s);
    CHECK(!flag && index == MPI_UNDEFINED, "flag %d index %d", flag, index);
    MPI_Grequest_complete(r[0]);
    MPI_Waitsome(5, r, &count, indices, s);
    CHECK(count == 1 && indices[0] == 0, "count %d", count);
    check_status(s, 1, 0, "MPI_Waitsome");
    MPI_Grequest_complete(r[2]);
    MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; ++i) called(&w[i], 1, 1, "among others");
    CHECK(x == 5, "x is %d", x);
}

static void cancelled(void) {
    struct work w = {0};
    MPI_Request r = start(&w);
    MPI_Status s;
    MPI_Cancel(&r);
    CHECK(w.cancels == 1 && !w.cancelled_when_complete, "cancel_fn: %d times, complete %d", w.cancels,
          w.cancelled_when_complete);
    MPI_Grequest_complete(r);
    MPI_Cancel(&r);
    CHECK(w.cancels == 2 && w.cancelled_when_complete, "complete: %d", w.cancelled_when_complete);
    MPI_Wait(&r, &s);
    check_status(&s, 0, 1, "MPI_Wait");
}

static void freed(void) {
    struct work before = {0}, after = {0};
    MPI_Request r = start(&before), copy = r;
    MPI_Request_free(&r);
    CHECK(r == MPI_REQUEST_NULL, "r is 0x%x", r);
    called(&before, 0, 0, "MPI_Request_free of one that is not complete");
    MPI_Grequest_complete(copy);
    called(&before, 0, 1, "MPI_Grequest_complete of a freed one");
    r = start(&after);
    MPI_Grequest_complete(r);
    MPI_Request_free(&r);
    called(&after, 0, 1, "MPI_Request_free of a complete one");
}

static void failing(void) {
    int own, other, class = -1;
    MPI_Add_error_class(&own);
    MPI_Add_error_code(own, &other);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    struct work q = {.query_code = own}, f = {.query_code = own, .free_code = other}, c = {.cancel_code = own};
    struct work fine = {0};
    MPI_Request r = start(&q), two[2];
    MPI_Status s[2];
    int flag = -1;
    MPI_Grequest_complete(r);
    CHECK(MPI_Request_get_status(r, &flag, s) == own, "MPI_Request_get_status%s", "");
    CHECK(MPI_Wait(&r, s) == own && r == MPI_REQUEST_NULL, "MPI_Wait: query_fn's code%s", "");
    called(&q, 2, 1, "free_fn after a query_fn that failed");
    r = start(&f);
    MPI_Grequest_complete(r);
    CHECK(MPI_Test(&r, &flag, s) == other, "MPI_Test: free_fn's code%s", "");
    r = start(&c);
    CHECK(MPI_Cancel(&r) == own, "MPI_Cancel: cancel_fn's code%s", "");
    CHECK(MPI_Request_free(&r) == MPI_SUCCESS, "MPI_Request_free%s", "");

    f = (struct work){.free_code = other};
    two[0] = start(&fine), two[1] = start(&f);
    MPI_Grequest_complete(two[0]), MPI_Grequest_complete(two[1]);
    MPI_Error_class(MPI_Waitall(2, two, s), &class);
    CHECK(class == MPI_ERR_IN_STATUS, "MPI_Waitall: class %d", class);
    CHECK(s[0].MPI_ERROR == MPI_SUCCESS && s[1].MPI_ERROR == other, "%d %d", s[0].MPI_ERROR, s[1].MPI_ERROR);

    f = (struct work){.free_code = other};
    MPI_Request copy = r = start(&f);
    MPI_Request_free(&r);
    CHECK(MPI_Grequest_complete(copy) == other, "MPI_Grequest_complete: free_fn's code%s", "");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void wrong_arguments(void) {
    struct work w = {0};
    MPI_Request r = start(&w), receive;
    MPI_Status s;
    int x;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_ARG, MPI_Grequest_start(NULL, release, cancel, NULL, &receive));
    FAILS(MPI_ERR_ARG, MPI_Grequest_start(query, NULL, cancel, NULL, &receive));
    FAILS(MPI_ERR_ARG, MPI_Grequest_start(query, release, NULL, NULL, &receive));
    FAILS(MPI_ERR_ARG, MPI_Grequest_start(query, release, cancel, NULL, NULL));
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(MPI_REQUEST_NULL));
    MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &receive);
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(receive));
    MPI_Cancel(&receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    FAILS(MPI_ERR_REQUEST, MPI_Start(&r));
    MPI_Grequest_complete(r);
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(r));
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&r));
    FAILS(MPI_ERR_ARG, MPI_Status_set_elements(MPI_STATUS_IGNORE, MPI_INT, 1));
    FAILS(MPI_ERR_COUNT, MPI_Status_set_elements(&s, MPI_INT, -1));
    FAILS(MPI_ERR_TYPE, MPI_Status_set_elements(&s, MPI_DATATYPE_NULL, 1));
    FAILS(MPI_ERR_ARG, MPI_Status_set_cancelled(NULL, 1));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    one_at_a_time();
    among_others();
    cancelled();
    freed();
    failing();
    wrong_arguments();
    MPI_Finalize();
    return 0;
}

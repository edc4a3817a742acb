/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Request_get_status_any, _all and _some: they return what MPI_Testany and its relatives would, without freeing
 * requests. */
// ranks: 1 2 4
#include "tests/ranks/check.h"

enum { requests = 4, tag = 7 };

static int me, size, values[requests];

/* Receives from the left neighbour with the tags tag + i; null and inactive requests in between are ignored. */
static void post(MPI_Request *r) {
    for (int i = 0; i < requests; ++i)
        MPI_Irecv(&values[i], 1, MPI_INT, (me + size - 1) % size, tag + i, MPI_COMM_WORLD, &r[i]);
}

static void send(int i) {
    int value = 100 * me + i;
    MPI_Send(&value, 1, MPI_INT, (me + 1) % size, tag + i, MPI_COMM_WORLD);
}

static void check_status(MPI_Status const *s, int i) {
    int source = -1, of = -1, count = -1;
    MPI_Status_get_source(s, &source);
    MPI_Status_get_tag(s, &of);
    MPI_Get_count(s, MPI_INT, &count);
    CHECK(source == (me + size - 1) % size && of == tag + i && count == 1, "request %d: %d %d %d", i,
          source, of, count);
}

static void nothing_yet(MPI_Request *r) {
    int flag = -1, index = -1, count = -1, indices[requests];
    MPI_Request_get_status_any(requests, r, &index, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag && index == MPI_UNDEFINED, "any: flag %d, index %d", flag, index);
    MPI_Request_get_status_all(requests, r, &flag, MPI_STATUSES_IGNORE);
    CHECK(!flag, "all: flag %d", flag);
    MPI_Request_get_status_some(requests, r, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count == 0, "some: %d", count);
}

static void one_complete(MPI_Request *r, int which) {
    int flag = 0, index = -1, count = 0, indices[requests] = {-1};
    MPI_Status s, several[requests];
    while (!flag) MPI_Request_get_status_any(requests, r, &index, &flag, &s);
    CHECK(index == which, "any: index %d instead of %d", index, which);
    check_status(&s, which);
    MPI_Request_get_status_some(requests, r, &count, indices, several);
    CHECK(count == 1 && indices[0] == which, "some: %d, first %d", count, indices[0]);
    check_status(&several[0], which);
    CHECK(several[0].MPI_ERROR == MPI_SUCCESS, "MPI_ERROR is %d", several[0].MPI_ERROR);
    MPI_Request_get_status_all(requests, r, &flag, several);
    CHECK(!flag, "all, though one is complete: flag %d", flag);
}

static void all_complete(MPI_Request *r) {
    int flag = 0, index = -1, count = 0, indices[requests];
    MPI_Status several[requests];
    while (!flag) MPI_Request_get_status_all(requests, r, &flag, several);
    for (int i = 0; i < requests; ++i) check_status(&several[i], i);
    MPI_Request_get_status_any(requests, r, &index, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && index == 0, "any: flag %d, index %d", flag, index);
    MPI_Request_get_status_some(requests, r, &count, indices, several);
    CHECK(count == requests, "some: %d", count);
    for (int i = 0; i < requests; ++i) {
        CHECK(indices[i] == i && r[i] != MPI_REQUEST_NULL, "request %d has been completed", i);
        check_status(&several[i], i);
    }
}

/* Null handles and an inactive persistent request are complete with an empty status, and are not counted. */
static void not_there(void) {
    int flag = 0, index = 5, count = 0, indices[2], value;
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[2];
    MPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r[1]);
    MPI_Request_get_status_any(2, r, &index, &flag, s);
    CHECK(flag && index == MPI_UNDEFINED && s[0].MPI_SOURCE == MPI_ANY_SOURCE, "any: %d %d", flag, index);
    flag = 0;
    MPI_Request_get_status_all(2, r, &flag, s);
    CHECK(flag && s[1].MPI_TAG == MPI_ANY_TAG, "all: %d", flag);
    MPI_Request_get_status_some(2, r, &count, indices, s);
    CHECK(count == MPI_UNDEFINED, "some: %d", count);
    MPI_Request_get_status_all(0, NULL, &flag, NULL);
    CHECK(flag, "all of none: %d", flag);
    MPI_Request_free(&r[1]);
}

static void failed(void) {
    int flag = 0, in = 0, out[2] = {1, 2}, count = 0, index = -1, class = 0;
    MPI_Request r;
    MPI_Status s;
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r);
    MPI_Send(out, 2, MPI_INT, 0, 1, MPI_COMM_SELF);
    CHECK(MPI_Request_get_status_some(1, &r, &count, &index, &s) == MPI_SUCCESS && count == 1, "some: %d", count);
    MPI_Error_class(s.MPI_ERROR, &class);
    CHECK(class == MPI_ERR_TRUNCATE, "class %d", class);
    CHECK(MPI_Request_get_status_any(1, &r, &index, &flag, &s) == MPI_SUCCESS && flag, "any: %d", flag);
    FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&r, &s));
}

static void errors(void) {
    int flag, index, count;
    MPI_Request bad = (MPI_Request)0x6c123456, r = MPI_REQUEST_NULL;
    FAILS(MPI_ERR_COUNT, MPI_Request_get_status_any(-1, &r, &index, &flag, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Request_get_status_all(-1, &r, &flag, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_COUNT, MPI_Request_get_status_some(-1, &r, &count, &index, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Request_get_status_all(1, NULL, &flag, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Request_get_status_all(1, &r, NULL, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Request_get_status_any(1, &r, NULL, &flag, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_ARG, MPI_Request_get_status_some(1, &r, &count, NULL, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Request_get_status_any(1, &bad, &index, &flag, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Request_get_status_all(1, &bad, &flag, MPI_STATUSES_IGNORE));
    FAILS(MPI_ERR_REQUEST, MPI_Request_get_status_some(1, &bad, &count, &index, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv) {
    MPI_Request r[requests];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    post(r);
    MPI_Barrier(MPI_COMM_WORLD);
    nothing_yet(r);
    MPI_Barrier(MPI_COMM_WORLD);
    send(2);
    one_complete(r, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < requests; ++i)
        if (i != 2) send(i);
    all_complete(r);
    MPI_Waitall(requests, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < requests; ++i)
        CHECK(values[i] == 100 * ((me + size - 1) % size) + i, "value %d is %d", i, values[i]);
    not_there();
    failed();
    errors();
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// MPI_Waitany and MPI_Testany always return the first of several complete requests. MPI_Waitsome and MPI_Testsome
// return all, so that no request starves while others are always complete. A message that arrives while a call always
// finds complete requests is received.
// ranks: 2
#include "tests/ranks/check.h"

enum { requests = 5, rounds = 500 };

static int me;

static void begin(MPI_Request *r) { MPI_Isend(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, r); }

/// Marks which of `n` requests `call`, 0 to 3, completes.
static void completed(int call, int n, MPI_Request *r, int *done) {
    int index = -1, flag = 1, count = 0, indices[requests];
    for (int i = 0; i < n; ++i) done[i] = 0;
    switch (call) {
        case 0: MPI_Waitany(n, r, &index, MPI_STATUS_IGNORE); break;
        case 1: MPI_Testany(n, r, &index, &flag, MPI_STATUS_IGNORE); break;
        case 2: MPI_Waitsome(n, r, &count, indices, MPI_STATUSES_IGNORE); break;
        default: MPI_Testsome(n, r, &count, indices, MPI_STATUSES_IGNORE);
    }
    CHECK(flag, "call %d found nothing", call);
    if (call < 2) done[index] = 1;
    for (int i = 0; i < count; ++i) done[indices[i]] = 1;
}

/// All requests from `first` on are complete; those before it are null, or receives without a message.
static void all_complete(int call, int first) {
    MPI_Request r[requests];
    int done[requests];
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < requests; ++i) {
            if (i >= first) begin(&r[i]);
            else if (i % 2) r[i] = MPI_REQUEST_NULL;
            else MPI_Irecv(NULL, 0, MPI_INT, me, 77, MPI_COMM_WORLD, &r[i]);
        }
        completed(call, requests, r, done);
        for (int i = 0; i < requests; ++i) {
            int const due = call < 2 ? i == first : i >= first;
            CHECK(done[i] == due, "call %d: request %d of %d from %d: %d", call, i, requests, first, done[i]);
        }
        for (int i = 0; i < first; i += 2) MPI_Cancel(&r[i]);
        MPI_Waitall(requests, r, MPI_STATUSES_IGNORE);
    }
}

/// The message's request is between two that are always complete, or before them for calls that return only the first.
static void a_message_beside(int call) {
    int const message = call < 2 ? 0 : 1;
    int x = -1, here = 0, done[3];
    if (me == 1) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&call, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        return;
    }
    MPI_Request r[3];
    MPI_Irecv(&x, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &r[message]);
    for (int i = 0; i < 3; ++i)
        if (i != message) begin(&r[i]);
    MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
    while (!here) {
        completed(call, 3, r, done);
        for (int i = 0; i < 3; ++i)
            if (done[i] && i != message) begin(&r[i]);
        here = done[message];
    }
    CHECK(x == call && r[message] == MPI_REQUEST_NULL, "x is %d", x);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int call = 0; call < 4; ++call) {
        for (int first = 0; first < requests; ++first) all_complete(call, first);
        a_message_beside(call);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// No request starves because others in the same array are always complete again, wherever it stands in it: neither one
// that is complete as well, nor one whose message comes while the call always finds something complete already.
// ranks: 2
#include "../check.h"

enum { requests = 5, rounds = 2000 };

static int me;

static void begin(MPI_Request *r) { MPI_Isend(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, r); }

/// One of `n` requests that `call`, 0 to 3, completes first; it may have completed others as well.
static int completed(int call, int n, MPI_Request *r, int *done) {
    int index = -1, flag = 0, count = 0, indices[requests];
    for (int i = 0; i < n; ++i) done[i] = 0;
    switch (call) {
        case 0: MPI_Waitany(n, r, &index, MPI_STATUS_IGNORE); break;
        case 1: MPI_Testany(n, r, &index, &flag, MPI_STATUS_IGNORE); break;
        case 2: MPI_Waitsome(n, r, &count, indices, MPI_STATUSES_IGNORE); break;
        default: MPI_Testsome(n, r, &count, indices, MPI_STATUSES_IGNORE);
    }
    if (call < 2) done[index] = 1;
    for (int i = 0; i < count; ++i) done[indices[i]] = 1;
    return call < 2 ? index : indices[0];
}

static void all_always_complete(int call) {
    MPI_Request r[requests];
    int times[requests] = {0}, done[requests];
    for (int i = 0; i < requests; ++i) begin(&r[i]);
    for (int round = 0; round < rounds; ++round) {
        completed(call, requests, r, done);
        for (int i = 0; i < requests; ++i)
            if (done[i]) ++times[i], begin(&r[i]);
    }
    MPI_Waitall(requests, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < requests; ++i)
        CHECK(times[i] > rounds / requests / 4, "call %d: request %d was chosen %d times", call, i, times[i]);
}

/// Two arrays in turn: the place where a call begins to look must not depend on how many calls there were alone.
static void in_turn(void) {
    MPI_Request a[2], b[2];
    int times[4] = {0}, done[2];
    begin(&a[0]), begin(&a[1]), begin(&b[0]), begin(&b[1]);
    for (int round = 0; round < rounds; ++round) {
        int i = completed(0, 2, a, done), j = completed(0, 2, b, done);
        ++times[i], ++times[2 + j];
        begin(&a[i]), begin(&b[j]);
    }
    MPI_Waitall(2, a, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, b, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; ++i) CHECK(times[i] > rounds / 8, "in turn: %d was chosen %d times", i, times[i]);
}

static void a_message_beside(int call) {
    int x = -1, here = 0, done[3];
    if (me == 1) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&call, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        return;
    }
    MPI_Request r[3];
    MPI_Irecv(&x, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
    for (begin(&r[0]), begin(&r[2]); !here;) {
        completed(call, 3, r, done);
        for (int i = 0; i < 3; i += 2)
            if (done[i]) begin(&r[i]);
        here = done[1];
    }
    CHECK(x == call && r[1] == MPI_REQUEST_NULL, "x is %d", x);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int call = 0; call < 4; ++call) {
        all_always_complete(call);
        a_message_beside(call);
    }
    in_turn();
    MPI_Finalize();
    return 0;
}

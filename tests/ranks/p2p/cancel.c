// SPDX-License-Identifier: BSD-3-Clause
// Cancels sends and receives before and after they are matched.
// ranks: 2
#include "tests/ranks/check.h"

static const int sizes[] = {0, 2, 1000, 100000};
static int data[100000];

typedef int starting(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static int cancelled(MPI_Request *r) {
    MPI_Status s;
    int flag = -1;
    MPI_Wait(r, &s);
    MPI_Test_cancelled(&s, &flag);
    return flag;
}

static void of_sends(int me, starting *send, int n) {
    MPI_Request r;
    if (me == 0) {
        send(data, n, MPI_INT, 1, 1, MPI_COMM_WORLD, &r);
        MPI_Cancel(&r);
        CHECK(cancelled(&r) == 1, "an unreceived send of %d ints was not cancelled", n);
        MPI_Send(data, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
        send(data, n, MPI_INT, 1, 3, MPI_COMM_WORLD, &r);
        MPI_Recv(data, 0, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Cancel(&r);
        CHECK(cancelled(&r) == 0, "a send of %d ints that was received was cancelled", n);
    } else {
        int flag;
        MPI_Recv(data, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "the cancelled send of %d ints has arrived", n);
        MPI_Recv(data, n, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, 0, MPI_INT, 0, 4, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    int me, x = 5;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < 4; ++i) {
        of_sends(me, MPI_Isend, sizes[i]);
        of_sends(me, MPI_Issend, sizes[i]);
    }
    MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    CHECK(cancelled(&r) == 1, "a receive that nothing matched was not cancelled%s", "");
    MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &r);
    MPI_Send(&me, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
    MPI_Cancel(&r);
    CHECK(cancelled(&r) == 0 && x == me, "a matched receive: x is %d", x);
    MPI_Recv_init(&x, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &r);
    for (int round = 0; round < 3; ++round) {
        MPI_Start(&r);
        MPI_Cancel(&r);
        CHECK(cancelled(&r) == 1 && r != MPI_REQUEST_NULL, "persistent, round %d", round);
    }
    MPI_Request_free(&r);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Cancels sends and receives in each state: queued behind a full ring, offered, partly transferred, to the rank itself,
// persistent, buffered, to and from MPI_PROC_NULL, freed, and cancelled twice; each inquiry call is used.
// ranks: 2
// run staged: 2 TUTTI_ARENA=no TUTTI_CMA=no TUTTI_XPMEM=no
#include "tests/ranks/check.h"

#include <string.h>

enum { token_tag = 30000, large = 3 << 20, sends = 3000 };

static int me;
static char data[large], got[large];

typedef int sending(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static int was_cancelled(MPI_Request *r) {
    MPI_Status s;
    int flag = -1;
    MPI_Wait(r, &s);
    MPI_Test_cancelled(&s, &flag);
    return flag;
}

static void token(int to) { MPI_Send(NULL, 0, MPI_INT, to, token_tag, MPI_COMM_WORLD); }
static void wait_for_token(int from) {
    MPI_Recv(NULL, 0, MPI_INT, from, token_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Makes more sends than a ring holds, so that the last ones are queued. Every third is cancelled, the others arrive.
static void queued(sending *send, int bytes) {
    static MPI_Request r[sends];
    int numbers[sends], taken = 0;
    if (me == 0) {
        for (int i = 0; i < sends; ++i) {
            numbers[i] = i;
            send(bytes == 4 ? (void *)&numbers[i] : data, bytes, MPI_CHAR, 1, i, MPI_COMM_WORLD, &r[i]);
        }
        for (int i = sends - 1; i >= 0; i -= 3) MPI_Cancel(&r[i]);
        for (int i = sends - 1; i >= 0; i -= 3) taken += was_cancelled(&r[i]);
        CHECK(taken == sends / 3, "%d of %d were cancelled", taken, sends / 3);
        token(1);
        for (int i = 0; i < sends; ++i)
            if (r[i] != MPI_REQUEST_NULL) CHECK(was_cancelled(&r[i]) == 0, "send %d was cancelled", i);
        wait_for_token(1);
    } else {
        wait_for_token(0);
        for (int i = 0; i < sends; ++i) {
            int here = 0;
            if ((sends - 1 - i) % 3 != 0) MPI_Recv(got, bytes, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else MPI_Iprobe(0, i, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
            CHECK(!here, "send %d has arrived", i);
        }
        token(0);
    }
}

/// The receiver has matched the message: the operation completes with all data, as without MPI_Cancel.
static void partly_transferred(sending *send) {
    MPI_Request r;
    if (me == 0) {
        for (int i = 0; i < large; ++i) data[i] = (char)(i % 101);
        send(data, large, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &r);
        token(1);
        wait_for_token(1);
        MPI_Cancel(&r);
        CHECK(was_cancelled(&r) == 0, "a send that was being received was cancelled%s", "");
    } else {
        memset(got, -1, large);
        MPI_Irecv(got, large, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &r);
        wait_for_token(0);   // sent after the message, which is matched by now
        MPI_Cancel(&r);
        token(0);
        CHECK(was_cancelled(&r) == 0, "a matched receive was cancelled%s", "");
        for (int i = 0; i < large; ++i) CHECK(got[i] == (char)(i % 101), "byte %d is %d", i, got[i]);
    }
}

static void to_oneself(sending *send, int bytes) {
    MPI_Request s, r;
    send(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_SELF, &s);
    MPI_Cancel(&s);
    MPI_Cancel(&s);   // a second time: no effect
    CHECK(was_cancelled(&s) == 1, "%d unreceived bytes to the rank itself were not cancelled", bytes);
    MPI_Irecv(got, bytes, MPI_CHAR, 0, 1, MPI_COMM_SELF, &r);
    MPI_Cancel(&r);
    CHECK(was_cancelled(&r) == 1, "the cancelled send of %d bytes to the rank itself has arrived", bytes);
    send(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_SELF, &s);
    MPI_Irecv(got, bytes, MPI_CHAR, 0, 1, MPI_COMM_SELF, &r);
    MPI_Cancel(&s);
    MPI_Cancel(&r);
    CHECK(was_cancelled(&s) == 0 && was_cancelled(&r) == 0, "%d bytes that were received were cancelled", bytes);
}

static void persistent(int bytes) {
    MPI_Request r;
    if (me == 0) {
        MPI_Send_init(data, bytes, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &r);
        for (int round = 0; round < 4; ++round) {
            MPI_Start(&r);
            round % 2 == 0 ? (void)MPI_Cancel(&r) : token(1);
            CHECK(was_cancelled(&r) == (round % 2 == 0), "persistent send of %d bytes, round %d", bytes, round);
        }
        MPI_Request_free(&r);
    } else {
        for (int i = 0; i < 2; ++i) {
            wait_for_token(0);
            MPI_Recv(got, bytes, MPI_CHAR, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Recv_init(got, bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD, &r);
        for (int round = 0; round < 4; ++round) {
            MPI_Start(&r);
            MPI_Cancel(&r);
            CHECK(was_cancelled(&r) == 1, "persistent receive of %d bytes, round %d", bytes, round);
        }
        MPI_Request_free(&r);
    }
}

static void from_and_to_proc_null(void) {
    MPI_Request r[2];
    MPI_Isend(data, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(data, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < 2; ++i) {
        MPI_Cancel(&r[i]);
        CHECK(was_cancelled(&r[i]) == 0, "complete from the start, but cancelled%s", "");
    }
}

/// A buffered send is complete from the start but can still be cancelled, here while it may be received: either it is
/// cancelled or its message arrives, never both.
static void buffered(void) {
    static char room[1000 + MPI_BSEND_OVERHEAD];
    char *address;
    int bytes, send_cancelled = -1;
    MPI_Request r;
    if (me == 0) {
        MPI_Buffer_attach(room, sizeof room);
        MPI_Ibsend(data, 100, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &r);
        MPI_Cancel(&r);
        send_cancelled = was_cancelled(&r);
        MPI_Send(&send_cancelled, 1, MPI_INT, 1, token_tag, MPI_COMM_WORLD);
        MPI_Buffer_detach(&address, &bytes);
    } else {
        MPI_Irecv(got, 100, MPI_CHAR, 0, 6, MPI_COMM_WORLD, &r);
        MPI_Recv(&send_cancelled, 1, MPI_INT, 0, token_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (send_cancelled) MPI_Cancel(&r);
        CHECK(was_cancelled(&r) == send_cancelled, "the send: %d, the receive: %d", send_cancelled, !send_cancelled);
    }
}

static void freed(int bytes) {
    MPI_Request r;
    if (me == 0) {
        MPI_Isend(data, bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &r);
        MPI_Cancel(&r);
        MPI_Request_free(&r);
        token(1);
        wait_for_token(1);
    } else {
        int here = -1;
        wait_for_token(0);
        MPI_Irecv(got, 1, MPI_CHAR, 0, 8, MPI_COMM_WORLD, &r);
        MPI_Cancel(&r);
        MPI_Request_free(&r);
        MPI_Iprobe(0, 7, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE);
        CHECK(!here, "the cancelled send of %d bytes has arrived", bytes);
        token(0);
    }
}

static void asked_about(void) {
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[3];
    int flag = 0, cancelled = -1, index = -1, count = -1, indices[3];
    for (int call = 0; call < 6; ++call) {
        MPI_Irecv(got, 1, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &r[1]);
        MPI_Cancel(&r[1]);
        switch (call) {
            case 0: MPI_Waitany(3, r, &index, s); break;
            case 1: MPI_Testany(3, r, &index, &flag, s); break;
            case 2: MPI_Waitsome(3, r, &count, indices, s); break;
            case 3: MPI_Testsome(3, r, &count, indices, s); break;
            case 4: MPI_Request_get_status(r[1], &flag, s), MPI_Wait(&r[1], MPI_STATUS_IGNORE); break;
            default: MPI_Waitall(3, r, s), s[0] = s[1];
        }
        MPI_Test_cancelled(s, &cancelled);
        CHECK(cancelled && r[1] == MPI_REQUEST_NULL, "call %d: cancelled %d", call, cancelled);
    }
    MPI_Recv_init(got, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF, &r[0]);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&r[0]));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Request_free(&r[0]);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    queued(MPI_Isend, 4);
    queued(MPI_Issend, 4);
    queued(MPI_Isend, 10000);
    partly_transferred(MPI_Isend), partly_transferred(MPI_Issend);
    to_oneself(MPI_Isend, 10), to_oneself(MPI_Issend, 10), to_oneself(MPI_Isend, large);
    persistent(10), persistent(1 << 20);
    from_and_to_proc_null();
    buffered();
    freed(10), freed(1 << 20);
    asked_about();
    MPI_Finalize();
    return 0;
}

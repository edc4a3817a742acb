/* SPDX-License-Identifier: BSD-3-Clause */
/* Cancels buffered sends: before a message is received, MPI_Cancel succeeds and frees the space in the buffer; after
 * that it fails. Small messages have already been sent, large ones are in the buffer. */
// ranks: 1 2 4
#include "tests/ranks/check.h"

enum { most = 100000, room = most * (int)sizeof(int) + MPI_BSEND_OVERHEAD };

static const int sizes[] = {0, 2, 1000, most};
static int data[most], me, size;
static char buffer[room];

/* Sends to the right neighbour by MPI_Ibsend or a persistent request. */
static void begin(int persistent, int n, int tag, MPI_Request *r) {
    if (persistent) {
        MPI_Bsend_init(data, n, MPI_INT, (me + 1) % size, tag, MPI_COMM_WORLD, r);
        MPI_Start(r);
    } else {
        MPI_Ibsend(data, n, MPI_INT, (me + 1) % size, tag, MPI_COMM_WORLD, r);
    }
}

static int cancelled(MPI_Request *r) {
    MPI_Status s;
    int flag = -1;
    MPI_Cancel(r);
    MPI_Wait(r, &s);
    MPI_Test_cancelled(&s, &flag);
    return flag;
}

static void end(int persistent, MPI_Request *r) {
    CHECK((*r != MPI_REQUEST_NULL) == persistent, "request %x", *r);
    if (persistent) MPI_Request_free(r);
}

static void unmatched(int persistent, int n) {
    MPI_Request r;
    int flag, left = (me + size - 1) % size;
    for (int round = 0; round < 3; ++round) {   /* each round needs the whole buffer */
        begin(persistent, n, 1, &r);
        CHECK(cancelled(&r) == 1, "an unreceived send of %d ints was not cancelled", n);
        end(persistent, &r);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(left, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "a cancelled send of %d ints has arrived", n);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void matched(int persistent, int n) {
    static int got[most];
    MPI_Request r;
    for (int i = 0; i < n; ++i) data[i] = me + i;
    begin(persistent, n, 3, &r);
    int left = (me + size - 1) % size;
    MPI_Recv(got, n, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(cancelled(&r) == 0, "a send of %d ints that was received was cancelled", n);
    for (int i = 0; i < n; ++i) CHECK(got[i] == left + i, "element %d is %d", i, got[i]);
    end(persistent, &r);
}

/* If a persistent request was started twice, cancelling affects its last message only. */
static void started_again(int n) {
    int left = (me + size - 1) % size, flag;
    static int got[most];
    MPI_Request r;
    void *address;
    int bytes;
    MPI_Buffer_detach(&address, &bytes);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Bsend_init(data, n, MPI_INT, (me + 1) % size, 5, MPI_COMM_WORLD, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Start(&r);
    CHECK(cancelled(&r) == 1, "the second of two sends of %d ints was not cancelled", n);
    MPI_Request_free(&r);
    MPI_Recv(got, n, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(left, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "the cancelled send of %d ints has arrived", n);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Buffer_detach(&address, &bytes);
    MPI_Buffer_attach(buffer, room);
}

int main(int argc, char **argv) {
    void *address;
    int bytes;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < 4; ++i)
        for (int persistent = 0; persistent < 2; ++persistent) {
            unmatched(persistent, sizes[i]);
            matched(persistent, sizes[i]);
        }
    for (int i = 0; i < 4; ++i) started_again(sizes[i]);
    MPI_Ibsend(data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r);
    CHECK(cancelled(&r) == 0, "a send to MPI_PROC_NULL was cancelled: %x", r);
    /* A request is freed while its message is in the buffer. */
    MPI_Ibsend(data, most, MPI_INT, (me + 1) % size, 7, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    MPI_Recv(data, most, MPI_INT, (me + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&address, &bytes);
    CHECK(address == buffer && bytes == room, "%d bytes", bytes);
    MPI_Finalize();
    return 0;
}

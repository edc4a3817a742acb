/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of buffered sends: a communicator's buffer takes precedence over the process's; automatic buffers; blocking
 * and nonblocking flushes. */
// ranks: 1 2 4
#include <string.h>

#include "tests/ranks/check.h"

enum { small = 100, large = 300000, room = large * (int)sizeof(int) + MPI_BSEND_OVERHEAD };

static int me, size, data[large], got[large];
static char of_process[room], of_comm[room];

static int right(void) { return (me + 1) % size; }
static int left(void) { return (me + size - 1) % size; }

static void receive(MPI_Comm comm, int n, int tag) {
    memset(got, 0, sizeof got);
    MPI_Recv(got, n, MPI_INT, left(), tag, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i) CHECK(got[i] == left() + i, "element %d of %d is %d", i, n, got[i]);
}

/* The sender changes the data directly after the send; the receiver must get the old data. */
static void bsend(MPI_Comm comm, int n, int tag) {
    for (int i = 0; i < n; ++i) data[i] = me + i;
    MPI_Bsend(data, n, MPI_INT, right(), tag, comm);
    memset(data, -1, sizeof data);
}

/* A message too large for one of the buffers shows which one is used. */
static void precedence(MPI_Comm comm) {
    void *address = NULL;
    int bytes = 0;
    MPI_Buffer_attach(of_process, small);
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(data, large, MPI_INT, right(), 0, comm));
    CHECK(MPI_Comm_attach_buffer(comm, of_comm, room) == MPI_SUCCESS, "%s", "attach");
    bsend(comm, large, 1);
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(data, large, MPI_INT, right(), 0, MPI_COMM_WORLD));
    FAILS(MPI_ERR_BUFFER, MPI_Comm_attach_buffer(comm, of_comm, room));
    receive(comm, large, 1);
    MPI_Comm_detach_buffer(comm, &address, &bytes);
    CHECK(address == of_comm && bytes == room, "%d bytes at %p", bytes, address);
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(data, large, MPI_INT, right(), 0, comm));
    FAILS(MPI_ERR_BUFFER, MPI_Comm_detach_buffer(comm, &address, &bytes));
    MPI_Buffer_detach(&address, &bytes);
    CHECK(address == of_process && bytes == small, "%d bytes at %p", bytes, address);
}

/* An automatic buffer takes any number of messages. */
static void automatic(MPI_Comm comm) {
    void *address = NULL;
    int bytes;
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_attach(of_process, room));
    for (int i = 0; i < 3; ++i) bsend(comm, i == 1 ? large : small, i);
    for (int i = 2; i >= 0; --i) receive(comm, i == 1 ? large : small, i);
    MPI_Buffer_detach(&address, &bytes);
    CHECK(address == MPI_BUFFER_AUTOMATIC, "not MPI_BUFFER_AUTOMATIC but %p", address);
    MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, -1);
    bsend(comm, large, 4);
    receive(comm, large, 4);
    MPI_Comm_detach_buffer(comm, &address, &bytes);
    CHECK(address == MPI_BUFFER_AUTOMATIC, "not MPI_BUFFER_AUTOMATIC but %p", address);
}

/* After a flush, the whole buffer is free; a nonblocking flush is not complete before. */
static void flush(MPI_Comm comm) {
    void *address;
    int bytes, flag = 0;
    MPI_Request first, second;
    CHECK(MPI_Buffer_flush() == MPI_SUCCESS && MPI_Comm_flush_buffer(comm) == MPI_SUCCESS, "%s", "no buffer");
    MPI_Buffer_attach(of_process, room);
    MPI_Comm_attach_buffer(comm, of_comm, room);
    bsend(comm, large, 1);
    MPI_Comm_iflush_buffer(comm, &first);
    MPI_Buffer_iflush(&second);
    MPI_Test(&second, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && second == MPI_REQUEST_NULL, "a flush of the empty buffer: flag %d", flag);
    MPI_Test(&first, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "the flush is complete before the message is received: %d", flag);
    MPI_Barrier(MPI_COMM_WORLD);
    receive(comm, large, 1);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    bsend(comm, large, 2);
    receive(comm, large, 2);
    MPI_Comm_flush_buffer(comm);
    bsend(MPI_COMM_WORLD, large, 3);
    receive(MPI_COMM_WORLD, large, 3);
    MPI_Buffer_flush();
    MPI_Comm_iflush_buffer(comm, &first);
    MPI_Request_free(&first);
    MPI_Comm_detach_buffer(comm, &address, &bytes);
    MPI_Buffer_detach(&address, &bytes);
}

/* A flush waits only for messages that were in the buffer when it began. */
static void later_ones(MPI_Comm comm) {
    void *address;
    int bytes;
    MPI_Request request;
    MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
    bsend(comm, large, 1);
    MPI_Comm_iflush_buffer(comm, &request);
    bsend(comm, large, 2);
    receive(comm, large, 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);   /* no rank has received the second message */
    receive(comm, large, 2);
    MPI_Comm_detach_buffer(comm, &address, &bytes);
}

/* A communicator is freed while its buffer still holds a message. */
static void freed(void) {
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_attach_buffer(comm, of_comm, room);
    MPI_Irecv(got, large, MPI_INT, left(), 6, comm, &request);
    bsend(comm, large, 6);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < large; ++i) CHECK(got[i] == left() + i, "element %d is %d", i, got[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
    bsend(comm, small, 7);
    receive(comm, small, 7);
    MPI_Comm_disconnect(&comm);
}

static void errors(MPI_Comm comm) {
    void *address;
    int bytes;
    FAILS(MPI_ERR_COMM, MPI_Comm_attach_buffer(MPI_COMM_NULL, of_comm, room));
    FAILS(MPI_ERR_ARG, MPI_Comm_attach_buffer(comm, of_comm, -1));
    FAILS(MPI_ERR_ARG, MPI_Comm_attach_buffer(comm, NULL, room));
    FAILS(MPI_ERR_ARG, MPI_Comm_detach_buffer(comm, NULL, &bytes));
    FAILS(MPI_ERR_ARG, MPI_Comm_detach_buffer(comm, &address, NULL));
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_detach(&address, &bytes));
    FAILS(MPI_ERR_ARG, MPI_Buffer_iflush(NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_iflush_buffer(comm, NULL));
    FAILS(MPI_ERR_COMM, MPI_Comm_flush_buffer(MPI_COMM_NULL));
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    precedence(comm);
    automatic(comm);
    flush(comm);
    later_ones(comm);
    freed();
    errors(comm);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

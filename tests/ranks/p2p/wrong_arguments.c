// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of point-to-point calls: each returns its error class and a message with call, argument and value.
// ranks: 2
#include "tests/ranks/check.h"

#include <string.h>

static void expect(int code, int wanted, const char *part, int line) {
    char text[MPI_MAX_ERROR_STRING];
    int class = -1, length;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (class != wanted || !strstr(text, part)) {
        fprintf(stderr, "line %d: class %d (wanted %d), text '%s' (wanted '%s')\n", line, class, wanted, text, part);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}
#define EXPECT(call, class, part) expect(call, class, part, __LINE__)

int main(int argc, char **argv) {
    int me, x[4] = {0}, size;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    MPI_Message m = MPI_MESSAGE_NULL;
    MPI_Comm w = MPI_COMM_WORLD;
    void *where;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(w, &me);
    MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);

    EXPECT(MPI_Send(x, 1, MPI_INT, 2, 0, w), MPI_ERR_RANK, "MPI_Send: dest is 2");
    EXPECT(MPI_Send(x, 1, MPI_INT, -5, 0, w), MPI_ERR_RANK, "dest is -5");
    EXPECT(MPI_Send(x, 1, MPI_INT, MPI_ANY_SOURCE, 0, w), MPI_ERR_RANK, "dest is -2");
    EXPECT(MPI_Send(x, -1, MPI_INT, 0, 0, w), MPI_ERR_COUNT, "MPI_Send: count is -1");
    EXPECT(MPI_Send(x, 1, MPI_INT, 0, -3, w), MPI_ERR_TAG, "tag is -3");
    EXPECT(MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 0, w), MPI_ERR_TYPE, "datatype is the null handle");
    EXPECT(MPI_Send(x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM, "comm is the null handle");
    EXPECT(MPI_Send(NULL, 1, MPI_INT, 0, 0, w), MPI_ERR_BUFFER, "null pointer");
    EXPECT(MPI_Isend(x, 1, MPI_INT, 7, 0, w, &r), MPI_ERR_RANK, "MPI_Isend: dest is 7");
    EXPECT(MPI_Recv(x, 1, MPI_INT, 2, 0, w, &s), MPI_ERR_RANK, "MPI_Recv: source is 2");
    EXPECT(MPI_Recv(x, 1, MPI_INT, 0, -2, w, &s), MPI_ERR_TAG, "tag is -2");
    EXPECT(MPI_Irecv(x, -2, MPI_INT, 0, 0, w, &r), MPI_ERR_COUNT, "MPI_Irecv: count is -2");
    EXPECT(MPI_Sendrecv(x, 1, MPI_INT, 0, 0, x, -1, MPI_INT, 0, 0, w, &s), MPI_ERR_COUNT, "recvcount is -1");
    EXPECT(MPI_Probe(9, 0, w, &s), MPI_ERR_RANK, "MPI_Probe: source is 9");
    EXPECT(MPI_Wait(NULL, &s), MPI_ERR_ARG, "request is a null pointer");
    EXPECT(MPI_Cancel(&r), MPI_ERR_REQUEST, "MPI_Cancel: request is the null handle");
    EXPECT(MPI_Request_free(&r), MPI_ERR_REQUEST, "MPI_Request_free: request is the null handle");
    r = (MPI_Request)0x12345678;
    EXPECT(MPI_Wait(&r, &s), MPI_ERR_REQUEST, "request is 0x12345678");
    EXPECT(MPI_Mrecv(x, 1, MPI_INT, &m, &s), MPI_ERR_REQUEST, "MPI_MESSAGE_NULL");
    EXPECT(MPI_Bsend(x, 1, MPI_INT, 0, 0, w), MPI_ERR_BUFFER, "no buffer is attached");
    EXPECT(MPI_Buffer_detach(&where, &size), MPI_ERR_BUFFER, "no buffer is attached");
    EXPECT(MPI_Ssend(x, 1, MPI_INT, me, 0, w), MPI_ERR_OTHER, "would never complete");

    MPI_Isend(x, 1, MPI_INT, MPI_PROC_NULL, 0, w, &r);
    EXPECT(MPI_Start(&r), MPI_ERR_REQUEST, "is not persistent");
    MPI_Wait(&r, &s);
    MPI_Recv_init(x, 1, MPI_INT, 1 - me, 77, w, &r);
    EXPECT(MPI_Cancel(&r), MPI_ERR_REQUEST, "not active");
    MPI_Start(&r);
    EXPECT(MPI_Start(&r), MPI_ERR_REQUEST, "already active");
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Request_free(&r);

    int y[3];
    MPI_Isend(x, 4, MPI_INT, 1 - me, 1, w, &r);
    EXPECT(MPI_Recv(y, 3, MPI_INT, 1 - me, 1, w, &s), MPI_ERR_TRUNCATE, "has 16 bytes but the receive has room for 12");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(s.MPI_SOURCE == 1 - me && s.MPI_TAG == 1, "status of the truncated receive: source %d", s.MPI_SOURCE);
    MPI_Finalize();
    return 0;
}

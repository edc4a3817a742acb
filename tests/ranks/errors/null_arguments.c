// SPDX-License-Identifier: BSD-3-Clause
// NULL instead of MPI_STATUS_IGNORE, MPI_IN_PLACE and null pointers instead of a buffer: each is refused with its class
// and a message that names the right argument, before a message is received or a request completed.
// ranks: 1 2
// nodes: one, all communication is of a rank with itself
#include <string.h>

#include "tests/ranks/check.h"

static char error_text[MPI_MAX_ERROR_STRING];

static int class_of(int code) {
    int class = -1, length;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, error_text, &length);
    return class;
}

#define REFUSES(class, words, call)                                                                             \
    do {                                                                                                        \
        int refused = class_of(call);                                                                           \
        CHECK(refused == (class), #call " gave class %d: %s", refused, error_text);                             \
        CHECK(strstr(error_text, words), #call " gave '%s', without '%s'", error_text, words);                  \
    } while (0)
#define WANTS_STATUS(call) REFUSES(MPI_ERR_ARG, "MPI_STATUS_IGNORE if no status is needed", call)
#define WANTS_STATUSES(call) REFUSES(MPI_ERR_ARG, "MPI_STATUSES_IGNORE if no status is needed", call)

enum { tag = 3 };

static void receiving(void) {
    int sent = 17, got = 0, flag;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Comm self = MPI_COMM_SELF;
    MPI_Request r;
    MPI_Isend(&sent, 1, MPI_INT, 0, tag, self, &r);
    WANTS_STATUS(MPI_Probe(0, tag, self, NULL));
    WANTS_STATUS(MPI_Iprobe(0, tag, self, &flag, NULL));
    WANTS_STATUS(MPI_Mprobe(0, tag, self, &message, NULL));
    WANTS_STATUS(MPI_Improbe(0, tag, self, &flag, &message, NULL));
    WANTS_STATUS(MPI_Recv(&got, 1, MPI_INT, 0, tag, self, NULL));
    WANTS_STATUS(MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, tag, self, NULL));
    WANTS_STATUS(MPI_Sendrecv(&sent, 1, MPI_INT, 0, tag, &got, 1, MPI_INT, 0, tag, self, NULL));
    WANTS_STATUS(MPI_Sendrecv_replace(&got, 1, MPI_INT, 0, tag, 0, tag, self, NULL));
    CHECK(got == 0 && message == MPI_MESSAGE_NULL, "a refused call has received %d", got);
    MPI_Mprobe(0, tag, self, &message, MPI_STATUS_IGNORE);
    WANTS_STATUS(MPI_Mrecv(&got, 1, MPI_INT, &message, NULL));
    REFUSES(MPI_ERR_REQUEST, "MPI_Mrecv", MPI_Wait(&message, MPI_STATUS_IGNORE));
    REFUSES(MPI_ERR_REQUEST, "MPI_Mrecv", MPI_Request_free(&message));
    REFUSES(MPI_ERR_ARG, "message is a null pointer", MPI_Mrecv(&got, 1, MPI_INT, NULL, MPI_STATUS_IGNORE));
    MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(got == sent && message == MPI_MESSAGE_NULL, "received %d", got);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, self, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "a refused call has sent");
}

static void completing(void) {
    int sent = 18, got = 0, flag = 7, index = 7, indices[2];
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(&got, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &r[0]);
    MPI_Send(&sent, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
    MPI_Request const before = r[0];
    WANTS_STATUS(MPI_Wait(&r[0], NULL));
    WANTS_STATUS(MPI_Test(&r[0], &flag, NULL));
    WANTS_STATUS(MPI_Waitany(2, r, &index, NULL));
    WANTS_STATUS(MPI_Testany(2, r, &index, &flag, NULL));
    WANTS_STATUS(MPI_Request_get_status(r[0], &flag, NULL));
    WANTS_STATUSES(MPI_Waitall(2, r, NULL));
    WANTS_STATUSES(MPI_Testall(2, r, &flag, NULL));
    WANTS_STATUSES(MPI_Waitsome(2, r, &index, indices, NULL));
    WANTS_STATUSES(MPI_Testsome(2, r, &index, indices, NULL));
    CHECK(r[0] == before, "a refused call has completed the request");
    MPI_Waitall(0, NULL, NULL);
    r[1] = r[0];
    MPI_Status statuses[2];
    REFUSES(MPI_ERR_IN_STATUS, "twice", MPI_Waitall(2, r, statuses));
    CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && class_of(statuses[1].MPI_ERROR) == MPI_ERR_REQUEST, "%s", error_text);
    CHECK(got == sent && r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL, "got %d", got);
}

static void buffers(void) {
    int value = 1, counts[2] = {1, 1}, displs[2] = {0, 1}, many[2];
    int *volatile one = (int *)1;   /* hides the value from the compiler */
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request r;
    MPI_Comm self = MPI_COMM_SELF;
    char const *in_place = "is MPI_IN_PLACE, which is not allowed here", *null = "is a null pointer";
    REFUSES(MPI_ERR_BUFFER, in_place, MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, tag, self));
    REFUSES(MPI_ERR_BUFFER, in_place, MPI_Irecv(MPI_IN_PLACE, 1, MPI_INT, 0, tag, self, &r));
    REFUSES(MPI_ERR_BUFFER, "0x1 (MPI_STATUS_IGNORE)", MPI_Isend((void *)1, 1, MPI_INT, 0, tag, self, &r));
    REFUSES(MPI_ERR_ARG, "request is a null pointer", MPI_Isend(&value, 1, MPI_INT, 0, tag, self, NULL));
    REFUSES(MPI_ERR_BUFFER, null, MPI_Alltoallw(NULL, counts, displs, types, many, counts, displs, types, self));
    REFUSES(MPI_ERR_BUFFER, null, MPI_Alltoallw(&value, counts, displs, types, NULL, counts, displs, types, self));
    REFUSES(MPI_ERR_ARG, "recvcounts is 0x1",
            MPI_Gatherv(&value, 1, MPI_INT, many, one, displs, MPI_INT, 0, self));
    REFUSES(MPI_ERR_ARG, "displs is a null", MPI_Allgatherv(&value, 1, MPI_INT, many, counts, NULL, MPI_INT, self));
    REFUSES(MPI_ERR_ARG, "sdispls is a null",
            MPI_Alltoallv(&value, counts, NULL, MPI_INT, many, counts, displs, MPI_INT, self));
    REFUSES(MPI_ERR_ARG, "rdispls is a null",
            MPI_Alltoallw(&value, counts, displs, types, many, counts, NULL, types, self));
    REFUSES(MPI_ERR_ARG, "recvtypes is a null",
            MPI_Alltoallw(&value, counts, displs, types, many, counts, displs, NULL, self));
    REFUSES(MPI_ERR_ARG, "recvcounts is MPI_IN_PLACE",
            MPI_Reduce_scatter(&value, many, MPI_IN_PLACE, MPI_INT, MPI_SUM, self));
    REFUSES(MPI_ERR_BUFFER, "0x1 (MPI_STATUS_IGNORE)", MPI_Allreduce((void *)1, many, 1, MPI_INT, MPI_SUM, self));
}

static void sizes(void) {
    MPI_Datatype big, bigger, type;
    MPI_Type_contiguous(0x7fffffff, MPI_DOUBLE, &big);
    MPI_Type_contiguous(0x3ffffff, big, &bigger);
    MPI_Type_commit(&bigger);
    int value, n;
    MPI_Aint bytes;
    REFUSES(MPI_ERR_TYPE, "2^61", MPI_Type_contiguous(0x7fffffff, bigger, &type));
    REFUSES(MPI_ERR_TYPE, "2^61", MPI_Type_vector(2, 1, 0x7fffffff, bigger, &type));
    REFUSES(MPI_ERR_TYPE, "2^61", MPI_Type_create_resized(MPI_INT, 0x7fffffffffffffff, 1, &type));
    REFUSES(MPI_ERR_COUNT, "the total size overflows",
            MPI_Send(&value, 0x7fffffff, bigger, MPI_PROC_NULL, tag, MPI_COMM_SELF));
    REFUSES(MPI_ERR_COUNT, "the total size overflows", MPI_Pack_size(0x7fffffff, bigger, MPI_COMM_SELF, &n));
    REFUSES(MPI_ERR_COUNT, "the total size overflows",
            MPI_Pack_external_size("external32", 0x7fffffff, bigger, &bytes));
    MPI_Type_free(&big);
    MPI_Type_free(&bigger);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    receiving();
    completing();
    buffers();
    sizes();
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Programs that poll: each polling call yields the core if and only if it found nothing. The run "dedicated" and
// polling_test.sh test the cases in which ranks must not, or must, yield.
// ranks: 2 4
// env: TUTTI_WAIT=shared
// run dedicated: 2 TUTTI_WAIT=dedicated
#include "tests/ranks/check.h"

#include <string.h>

enum { max_polls = 10000000, few_polls = 1000 };

static int me, size, left, right, yields;

static unsigned long long yielded(void) {
    static MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    static MPI_T_pvar_handle handle;
    int index, count;
    unsigned long long n = 0;
    if (session == MPI_T_PVAR_SESSION_NULL) {
        int result = MPI_T_pvar_get_index("tutti_yielded_looks", MPI_T_PVAR_CLASS_COUNTER, &index);
        CHECK(result == MPI_SUCCESS, "no counter: %d", result);
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
        MPI_T_pvar_start(session, handle);
    }
    MPI_T_pvar_read(session, handle, &n);
    return n;
}

typedef struct {
    MPI_Request *requests;   /* two receives from the left */
    MPI_Status status;
} Poll;

static int test(Poll *l) {
    int flag;
    MPI_Test(&l->requests[0], &flag, &l->status);
    return flag;
}
static int testall(Poll *l) {
    int flag;
    MPI_Testall(2, l->requests, &flag, MPI_STATUSES_IGNORE);
    return flag;
}
static int testany(Poll *l) {
    int flag, index;
    MPI_Testany(2, l->requests, &index, &flag, &l->status);
    return flag;
}
static int testsome(Poll *l) {
    int count, indices[2];
    MPI_Testsome(2, l->requests, &count, indices, MPI_STATUSES_IGNORE);
    return count != 0;
}
static int get_status(Poll *l) {
    int flag;
    MPI_Request_get_status(l->requests[1], &flag, &l->status);
    return flag;
}
static int iprobe(Poll *l) {
    int flag;
    MPI_Iprobe(left, 9, MPI_COMM_WORLD, &flag, &l->status);
    return flag;
}
static int improbe(Poll *l) {
    int flag, word = -1;
    MPI_Message message;
    MPI_Improbe(left, 9, MPI_COMM_WORLD, &flag, &message, &l->status);
    if (!flag) return 0;
    MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(word == left, "%d from %d", word, left);
    return 1;
}

/* Polls without success until the core was yielded, or often enough if it must not be; then the messages are sent. */
static void check_polls(const char *name, int (*poll)(Poll *)) {
    int in[2] = {-1, -1}, flag = 0;
    MPI_Request requests[2];
    Poll state = {requests, {0}};
    unsigned long long const before = yielded();
    long n = 0;
    long const most = yields ? max_polls : few_polls;
    for (int i = 0; i < 2; ++i) MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
    for (; n < most && yielded() == before; ++n) CHECK(!poll(&state), "%s found a message that was not sent", name);
    if (yields) CHECK(yielded() > before, "%s did not yield the core in %ld polls", name, n);
    else CHECK(yielded() == before, "%s yielded the core after %ld polls", name, n);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i) MPI_Send(&me, 1, MPI_INT, right, i, MPI_COMM_WORLD);
    MPI_Request last;
    MPI_Isend(&me, 1, MPI_INT, right, 9, MPI_COMM_WORLD, &last);
    while (!flag) flag = poll(&state);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == left && in[1] == left, "%s: %d and %d instead of %d", name, in[0], in[1], left);
    if (poll != improbe) MPI_Recv(in, 1, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&last, MPI_STATUS_IGNORE);
}

/* Polls that succeed must not yield. */
static void finds(void) {
    int out = 7, in = 0, flag;
    MPI_Request r;
    unsigned long long const before = yielded();
    for (int i = 0; i < few_polls; ++i) {
        MPI_Isend(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &r);
        MPI_Iprobe(0, 2, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        CHECK(flag, "message %d to itself was not found", i);
        MPI_Recv(&in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        CHECK(flag, "the send of a received message is not complete");
    }
    CHECK(yielded() == before, "the core was yielded %llu times", yielded() - before);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (me + size - 1) % size;
    right = (me + 1) % size;
    const char *wait = getenv("TUTTI_WAIT");
    yields = !wait || strcmp(wait, "dedicated") != 0;
    check_polls("MPI_Test", test);
    check_polls("MPI_Testall", testall);
    check_polls("MPI_Testany", testany);
    check_polls("MPI_Testsome", testsome);
    check_polls("MPI_Request_get_status", get_status);
    check_polls("MPI_Iprobe", iprobe);
    check_polls("MPI_Improbe", improbe);
    finds();
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}

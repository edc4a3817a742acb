// SPDX-License-Identifier: BSD-3-Clause
// When MPI_Comm_disconnect returns, all messages sent on the communicator have been received, and all ranks have called
// it.
// ranks: 1 2 4
#include "tests/ranks/check.h"

enum { large = 200000 };

static int data[large], arrived;

static int delete_fn(MPI_Comm comm, int keyval, void *value, void *extra_state) {
    (void)comm, (void)keyval, (void)extra_state;
    ++*(int *)value;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int me, ranks, keyval, deleted = 0;
    MPI_Comm comm, world = MPI_COMM_WORLD;
    MPI_Request r, inactive, inactive_too;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &deleted);
    MPI_Send_init(&arrived, 1, MPI_INT, me, 0, comm, &inactive);   // may exist during the disconnect
    MPI_Barrier_init(comm, MPI_INFO_NULL, &inactive_too);
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
    for (int i = 0; i < large; ++i) data[i] = me * large + i;
    static int got[large];
    MPI_Irecv(got, large, MPI_INT, before, 1, comm, &r);
    MPI_Request sent;
    MPI_Isend(data, large, MPI_INT, next, 1, comm, &sent);
    MPI_Request_free(&sent);
    if (me == 0) {
        MPI_Sendrecv(NULL, 0, MPI_INT, next, 2, NULL, 0, MPI_INT, before, 2, comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, before, 2, comm, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_INT, next, 2, comm);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&comm);
    CHECK(comm == MPI_COMM_NULL && deleted == 1, "comm is 0x%x, its attribute was deleted %d times", comm, deleted);
    for (int i = 0; i < large; ++i) data[i] = -1;   // no receiver needs the data any more
    for (int i = 0; i < large; ++i) CHECK(got[i] == before * large + i, "got[%d] is %d", i, got[i]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_COMM, MPI_Comm_disconnect(&world));
    FAILS(MPI_ERR_COMM, MPI_Comm_disconnect(&comm));
    FAILS(MPI_ERR_ARG, MPI_Comm_disconnect(NULL));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Request_free(&inactive);
    MPI_Request_free(&inactive_too);
    MPI_Comm_free_keyval(&keyval);
    MPI_Finalize();
    return 0;
}

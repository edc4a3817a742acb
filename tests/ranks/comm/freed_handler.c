// SPDX-License-Identifier: BSD-3-Clause
// A pending receive fails after the program has freed its communicator. The communicator's error handler gets the
// communicator's old handle, which is valid inside the handler (MPI 4.1, 2.5.1) and nowhere else.
// ranks: 2 3
#include "tests/ranks/check.h"

static MPI_Comm given;
static int called;

static void handler(MPI_Comm *comm, int *code, ...) {
    int size = 0, class = 0;
    ++called;
    CHECK(*comm == given, "the handler gets communicator %x instead of %x", (unsigned)*comm, (unsigned)given);
    CHECK(MPI_Comm_size(*comm, &size) == MPI_SUCCESS && size >= 2, "of size %d", size);
    MPI_Error_class(*code, &class);
    CHECK(class == MPI_ERR_TRUNCATE || class == MPI_ERR_IN_STATUS, "class %d", class);
}

/// The same with a message that MPI_Mprobe has found.
static void received_by_message(MPI_Errhandler mine, int rank, int size) {
    int small[2] = {0}, large[4] = {1, 2, 3, 4};
    MPI_Comm comm;
    MPI_Message message;
    MPI_Request sent;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, mine);
    given = comm;
    called = 0;
    MPI_Isend(large, 4, MPI_INT, (rank + 1) % size, 3, comm, &sent);
    MPI_Mprobe((rank + size - 1) % size, 3, comm, &message, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    FAILS(MPI_ERR_TRUNCATE, MPI_Mrecv(small, 2, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK(called == 1, "the handler was called %d times", called);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, small[2] = {0}, large[4] = {1, 2, 3, 4};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler mine, again;
    MPI_Comm_create_errhandler(handler, &mine);
    for (int round = 0; round < 3; ++round) {
        MPI_Comm comm, later;
        MPI_Request request;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, mine);
        given = comm;
        called = 0;
        MPI_Irecv(small, 2, MPI_INT, (rank + size - 1) % size, 3, comm, &request);
        MPI_Barrier(comm);
        MPI_Send(large, 4, MPI_INT, (rank + 1) % size, 3, comm);
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_SELF, &later);
        CHECK(later != given, "a new communicator has the handle %x of one in use", (unsigned)later);
        if (round == 0) FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&request, MPI_STATUS_IGNORE));
        else FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
        CHECK(called == 1, "the handler was called %d times", called);
        MPI_Comm_free(&later);
    }
    received_by_message(mine, rank, size);
    MPI_Errhandler handle = mine;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    MPI_Errhandler_free(&handle);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &again);   /* a freed handle must be reused */
    CHECK(again == mine, "error handler %x instead of %x", (unsigned)again, (unsigned)mine);
    MPI_Errhandler_free(&again);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_COMM, MPI_Comm_size(given, &size));
    MPI_Finalize();
    return 0;
}

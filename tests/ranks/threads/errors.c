// SPDX-License-Identifier: BSD-3-Clause
// Failing calls do not block other threads: error codes, messages, and error handlers that call MPI.
// ranks: 1 2
#include <string.h>

#include "tests/ranks/threads/threads.h"

/* Fewer errors than the library keeps messages for (256), so that a thread that was suspended still finds its own. */
enum { threads = 8, rounds = 20 };

static MPI_Comm comms[threads];
static int calls[threads];   /* of the error handler */

static void handler(MPI_Comm *comm, int *code, ...) {
    int error_class = -1, thread = -1;
    char name[MPI_MAX_OBJECT_NAME], *end;
    MPI_Error_class(*code, &error_class);
    CHECK(error_class == MPI_ERR_RANK, "class %d", error_class);
    MPI_Comm_get_name(*comm, name, &thread);
    thread = (int)strtol(name, &end, 10);
    CHECK(*end == '\0' && *comm == comms[thread], "the communicator's name is %s", name);
    ++calls[thread];
}

static void failing(int thread) {
    char text[MPI_MAX_ERROR_STRING], expected[64];
    int length, value = 0;
    for (int round = 0; round < rounds; ++round) {
        int code = MPI_Send(&value, 1, MPI_INT, size + thread, 0, comms[thread]);
        FAILS(MPI_ERR_RANK, code);
        CHECK(calls[thread] == round + 1, "%d calls of the handler after %d errors", calls[thread], round + 1);
        MPI_Error_string(code, text, &length);
        snprintf(expected, sizeof expected, "dest is %d", size + thread);
        CHECK(strstr(text, expected) && (int)strlen(text) == length, "the message is: %s", text);
        int got = -1, to = (me + 1) % size, from = (me + size - 1) % size, long_message[4] = {1, 2, 3, 4};
        MPI_Request request;
        MPI_Irecv(&got, 1, MPI_INT, from, thread, MPI_COMM_WORLD, &request);
        MPI_Send(long_message, round % 2 ? 1 : 4, MPI_INT, to, thread, MPI_COMM_WORLD);
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        FAILS(round % 2 ? MPI_SUCCESS : MPI_ERR_TRUNCATE, code);
        CHECK(got == 1, "received %d", got);
    }
}

int main(int argc, char **argv) {
    MPI_Errhandler own;
    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_create_errhandler(handler, &own);
    for (int t = 0; t < threads; ++t) {
        char name[8];
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
        snprintf(name, sizeof name, "%d", t);
        MPI_Comm_set_name(comms[t], name);
        MPI_Comm_set_errhandler(comms[t], own);
    }
    run_in_threads(threads, failing);
    for (int t = 0; t < threads; ++t) MPI_Comm_free(&comms[t]);
    MPI_Errhandler_free(&own);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Error handlers: user-defined, per communicator, inherited, compared, and freed while in use; MPI-1 names.
// ranks: 1 2
#include "tests/ranks/check.h"

static int calls, last_code;
static MPI_Comm last_comm;

static void count(MPI_Comm *comm, int *code, ...) {
    ++calls;
    last_comm = *comm;
    last_code = *code;
}

static int wrong_call(MPI_Comm comm) {
    int value = 0, size;
    MPI_Comm_size(comm, &size);
    return MPI_Send(&value, 1, MPI_INT, size, 0, comm);
}

static void own_handler(void) {
    MPI_Errhandler mine, got, again;
    MPI_Comm other;
    MPI_Comm_create_errhandler(count, &mine);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_errhandler(other, mine);
    int code = wrong_call(other);
    CHECK(code != MPI_SUCCESS && last_code == code, "code %x, the handler got %x", code, last_code);
    CHECK(calls == 1 && last_comm == other, "%d calls", calls);
    MPI_Comm_get_errhandler(other, &got);
    CHECK(got == mine, "got %x instead of %x", got, mine);
    MPI_Errhandler_free(&mine);
    CHECK(mine == MPI_ERRHANDLER_NULL, "freed handler is %x", mine);
    MPI_Comm_set_errhandler(other, got);
    MPI_Errhandler_free(&got);
    wrong_call(other);
    CHECK(calls == 2, "a freed handler in use was called %d times", calls);
    MPI_Comm_get_errhandler(other, &again);
    MPI_Errhandler_free(&again);
    MPI_Comm_call_errhandler(other, MPI_ERR_OTHER);
    CHECK(calls == 3 && last_code == MPI_ERR_OTHER, "%d calls, code %x", calls, last_code);

    MPI_Comm child;
    MPI_Comm_dup(other, &child);
    wrong_call(child);
    CHECK(calls == 4 && last_comm == child, "a duplicate has not inherited the handler: %d calls", calls);
    MPI_Comm_free(&child);
    MPI_Comm_free(&other);
}

static void predefined(void) {
    MPI_Errhandler got;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL, "the first handler is %x", got);
    MPI_Errhandler_free(&got);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    CHECK(got == MPI_ERRORS_RETURN, "got %x", got);
    CHECK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_RANK) == MPI_SUCCESS, "calling MPI_ERRORS_RETURN");
    CHECK(wrong_call(MPI_COMM_WORLD) != MPI_SUCCESS, "no code");
    MPI_Errhandler null = MPI_ERRHANDLER_NULL;
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, null) != MPI_SUCCESS, "the null handler was taken");
    CHECK(MPI_Errhandler_free(&null) != MPI_SUCCESS, "the null handler was freed");
}

static void old_names(void) {
    MPI_Errhandler mine, got;
    int before = calls;
    MPI_Errhandler_create(count, &mine);
    MPI_Errhandler_set(MPI_COMM_SELF, mine);
    wrong_call(MPI_COMM_SELF);
    CHECK(calls == before + 1 && last_comm == MPI_COMM_SELF, "%d calls", calls - before);
    MPI_Errhandler_get(MPI_COMM_SELF, &got);
    CHECK(got == mine, "got %x instead of %x", got, mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    predefined();
    own_handler();
    old_names();
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors on a window are passed to the window's error handler, with its handle and a message that names it. */
// ranks: 1 2
#include <string.h>

#include "tests/ranks/check.h"

static int calls, last_code, on_comms;
static MPI_Win last_win;

static void count(MPI_Win *win, int *code, ...) {
    ++calls;
    last_win = *win;
    last_code = *code;
}

static void count_comms(MPI_Comm *comm, int *code, ...) { on_comms += *comm != MPI_COMM_NULL && *code != MPI_SUCCESS; }

static int wrong_call(MPI_Win win) {
    int value = 0;
    return MPI_Put(&value, 1, MPI_INT, 1000, 0, 1, MPI_INT, win);
}

static void message_names(int code, char const *what) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, what), "'%s' does not contain '%s'", text, what);
}

int main(int argc, char **argv) {
    int memory[2];
    MPI_Win win, other;
    MPI_Errhandler mine, of_comms, got;
    MPI_Init(&argc, &argv);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
    MPI_Comm_create_errhandler(count_comms, &of_comms);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_comms);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL, "the first handler is %x", got);
    MPI_Errhandler_free(&got);

    MPI_Win_create_errhandler(count, &mine);
    MPI_Win_set_errhandler(win, mine);
    MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == mine, "got %x instead of %x", got, mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    int code = wrong_call(win);
    CHECK(code != MPI_SUCCESS && last_code == code && calls == 1, "code %x, the handler got %x", code, last_code);
    CHECK(last_win == win, "window %x instead of %x", last_win, win);
    message_names(code, "MPI_Put: target_rank is 1000");
    MPI_Win_set_name(win, "the halo");
    message_names(wrong_call(win), "(on the halo)");
    CHECK(calls == 2 && wrong_call(other) != MPI_SUCCESS && calls == 2, "%d calls", calls);
    CHECK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER) == MPI_SUCCESS, "calling the handler");
    CHECK(calls == 3 && last_code == MPI_ERR_OTHER, "%d calls, code %x", calls, last_code);
    CHECK(MPI_Win_call_errhandler(other, MPI_ERR_OTHER) == MPI_SUCCESS, "calling MPI_ERRORS_RETURN");

    CHECK(on_comms == 0, "errors of windows reached the error handler of MPI_COMM_WORLD");
    FAILS(MPI_ERR_WIN, wrong_call(MPI_WIN_NULL));
    CHECK(on_comms == 1, "an error without a window did not reach the error handler of MPI_COMM_WORLD");
    FAILS(MPI_ERR_ARG, MPI_Win_set_errhandler(other, of_comms));
    MPI_Win_get_errhandler(win, &mine);
    FAILS(MPI_ERR_ARG, MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine));
    CHECK(on_comms == 2, "%d", on_comms);
    MPI_Errhandler_free(&mine);
    MPI_Errhandler_free(&of_comms);
    MPI_Win_free(&win);
    MPI_Win_free(&other);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, hints and handle conversions of windows. */
// ranks: 1 2
#include <string.h>

#include "tests/ranks/check.h"

#undef MPI_Win_c2f
#undef MPI_Win_f2c

static void names(MPI_Win win) {
    char name[MPI_MAX_OBJECT_NAME], lengthy[300];
    int length = -1;
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 0 && name[0] == '\0', "a new window is called '%s'", name);
    MPI_Win_set_name(win, "the halo");
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 8 && !strcmp(name, "the halo"), "'%s', %d characters", name, length);
    memset(lengthy, 'x', sizeof lengthy);
    lengthy[sizeof lengthy - 1] = '\0';
    MPI_Win_set_name(win, lengthy);
    MPI_Win_get_name(win, name, &length);
    CHECK(length == MPI_MAX_OBJECT_NAME - 1 && (int)strlen(name) == length, "%d characters", length);
}

static int has(MPI_Info info, char const *key, char const *value) {
    char there[MPI_MAX_INFO_VAL + 1];
    int flag;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, there, &flag);
    return flag && !strcmp(there, value);
}

static void hints(void) {
    MPI_Info given, used;
    int memory[2];
    MPI_Win win;
    MPI_Info_create(&given);
    MPI_Info_set(given, "no_locks", "true");
    MPI_Info_set(given, "same_disp_unit", "true");
    MPI_Info_set(given, "accumulate_ops", "same_op");
    MPI_Info_set(given, "means_nothing", "here");
    MPI_Win_create(memory, sizeof memory, 4, given, MPI_COMM_WORLD, &win);
    MPI_Win_get_info(win, &used);
    CHECK(has(used, "no_locks", "true"), "no_locks is not in use");
    CHECK(!has(used, "means_nothing", "here"), "a hint that means nothing is in use");
    MPI_Info_free(&used);
    MPI_Win_set_info(win, given);
    MPI_Win_get_info(win, &used);
    MPI_Info_free(&used);
    MPI_Info_free(&given);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    int memory[2];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    names(win);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win && PMPI_Win_f2c(PMPI_Win_c2f(win)) == win, "another handle");
    CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL, "another null handle");
    MPI_Win_free(&win);
    hints();
    MPI_Finalize();
    return 0;
}

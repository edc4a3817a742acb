// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 2
// env: TUTTI_EAGER=4K TUTTI_COLL=allreduce=blocks
// MPI_T control variables (the settings) and categories: reading, writing before MPI_Init, and wrong arguments.
#include "tests/ranks/check.h"

#include <string.h>

static void is(int expected, int got, char const *what) {
    CHECK(got == expected, "%s gave %d instead of %d", what, got, expected);
}
#define IS(expected, call) is(expected, call, #call)

static MPI_T_cvar_handle allocate(char const *name, MPI_Datatype expected, int least) {
    int index = -1, count = 0;
    MPI_Datatype type;
    MPI_T_cvar_handle handle;
    IS(MPI_SUCCESS, MPI_T_cvar_get_index(name, &index));
    IS(MPI_SUCCESS, MPI_T_cvar_get_info(index, NULL, NULL, NULL, &type, NULL, NULL, NULL, NULL, NULL));
    CHECK(type == expected, "%s is a %x", name, (unsigned)type);
    IS(MPI_SUCCESS, MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK(least == 1 ? count == 1 : count >= least, "%s has %d elements", name, count);
    return handle;
}

/// Writes to a variable and expects this result. A variable that was read before MPI_Init must have a read-only scope.
static void write_expecting(char const *name, MPI_Datatype type, int least, void const *value, int answer) {
    MPI_T_cvar_handle handle = allocate(name, type, least);
    int index, scope, length = 4096;
    char text[4096];
    is(answer, MPI_T_cvar_write(handle, value), name);
    IS(MPI_SUCCESS, MPI_T_cvar_get_index(name, &index));
    IS(MPI_SUCCESS, MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, text, &length, NULL, &scope));
    CHECK((scope == MPI_T_SCOPE_READONLY) == (answer == MPI_T_ERR_CVAR_SET_NEVER), "%s has scope %d", name, scope);
    CHECK(strstr(text, " Values: "), "the description of %s has no range: %s", name, text);
    IS(MPI_SUCCESS, MPI_T_cvar_handle_free(&handle));
}

static MPI_T_cvar_handle eager, arena, sleep_after, coll, threshold;

static void write_before_init(void) {
    eager = allocate("TUTTI_EAGER", MPI_UNSIGNED_LONG, 1);
    arena = allocate("TUTTI_ARENA", MPI_INT, 1);
    sleep_after = allocate("TUTTI_SLEEP_AFTER", MPI_COUNT, 1);
    coll = allocate("TUTTI_COLL", MPI_CHAR, 256);
    threshold = allocate("TUTTI_ARENA_THRESHOLD", MPI_UNSIGNED_LONG, 1);
    unsigned long bytes = 0;
    MPI_Count milliseconds = -1;
    int flag = 2;
    IS(MPI_SUCCESS, MPI_T_cvar_read(eager, &bytes));
    CHECK(bytes == 4096, "eager is %lu", bytes);
    bytes = 8192;
    IS(MPI_SUCCESS, MPI_T_cvar_write(eager, &bytes));
    IS(MPI_T_ERR_CVAR_SET_NEVER, MPI_T_cvar_write(threshold, &bytes));   // read when the library was loaded
    IS(MPI_T_ERR_INVALID, MPI_T_cvar_write(arena, &flag));
    IS(MPI_T_ERR_INVALID, MPI_T_cvar_write(sleep_after, &milliseconds));
    IS(MPI_T_ERR_INVALID, MPI_T_cvar_write(sleep_after, NULL));
    flag = 0;
    IS(MPI_SUCCESS, MPI_T_cvar_write(arena, &flag));
    bytes = 100;
    write_expecting("TUTTI_STAGING", MPI_UNSIGNED_LONG, 1, &bytes, MPI_T_ERR_INVALID);   // outside the range
    milliseconds = 5;
    write_expecting("TUTTI_FRAGMENTS", MPI_COUNT, 1, &milliseconds, MPI_T_ERR_INVALID);
    write_expecting("TUTTI_WAIT", MPI_CHAR, 256, "dedicatd", MPI_T_ERR_INVALID);
    write_expecting("TUTTI_WAIT", MPI_CHAR, 256, "shared", MPI_SUCCESS);
    write_expecting("TUTTI_TUNING", MPI_CHAR, 256, "none", MPI_T_ERR_CVAR_SET_NEVER);    // read by mpiexec
    write_expecting("TUTTI_PORT_RANGE", MPI_CHAR, 256, "40000", MPI_T_ERR_CVAR_SET_NEVER);
    milliseconds = 70;
    IS(MPI_SUCCESS, MPI_T_cvar_write(sleep_after, &milliseconds));
    IS(MPI_SUCCESS, MPI_T_cvar_write(coll, "allreduce=recursive_doubling"));
}

static void read_after_init(void) {
    char text[2048];
    unsigned long bytes = 0;
    MPI_Count milliseconds = -1;
    int flag = 2, state = -1;
    IS(MPI_SUCCESS, MPI_T_cvar_read(eager, &bytes));
    IS(MPI_SUCCESS, MPI_T_cvar_read(arena, &flag));
    IS(MPI_SUCCESS, MPI_T_cvar_read(sleep_after, &milliseconds));
    IS(MPI_SUCCESS, MPI_T_cvar_read(coll, text));
    CHECK(bytes == 8192 && flag == 0 && milliseconds == 70, "%lu, %d, %ld", bytes, flag, milliseconds);
    CHECK(strcmp(text, "allreduce=recursive_doubling") == 0, "TUTTI_COLL is %s", text);
    IS(MPI_T_ERR_CVAR_SET_NEVER, MPI_T_cvar_write(eager, &bytes));

    double in = 1, out;   // the written value is kept
    int index, length = sizeof text;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_enum names;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    IS(MPI_SUCCESS, MPI_T_pvar_session_create(&session));
    IS(MPI_SUCCESS, MPI_T_pvar_get_index("tutti_allreduce_algorithm", MPI_T_PVAR_CLASS_STATE, &index));
    IS(MPI_SUCCESS,
       MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &names, NULL, NULL, NULL, NULL, NULL, NULL));
    IS(MPI_SUCCESS, MPI_T_pvar_handle_alloc(session, index, &world, &handle, &flag));
    IS(MPI_SUCCESS, MPI_T_pvar_read(session, handle, &state));
    IS(MPI_SUCCESS, MPI_T_enum_get_item(names, state, NULL, text, &length));
    CHECK(strcmp(text, "recursive_doubling") == 0, "the algorithm is %s", text);
}

static void wrong_arguments(void) {
    int n, index, count;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL, freed;
    IS(MPI_SUCCESS, MPI_T_cvar_get_num(&n));
    IS(MPI_T_ERR_INVALID_INDEX, MPI_T_cvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    IS(MPI_T_ERR_INVALID_INDEX, MPI_T_cvar_handle_alloc(-1, NULL, &handle, &count));
    IS(MPI_T_ERR_INVALID_NAME, MPI_T_cvar_get_index("TUTTI_NOTHING", &index));
    IS(MPI_T_ERR_INVALID, MPI_T_cvar_get_index(NULL, &index));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_read(handle, &n));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_handle_free(&handle));
    IS(MPI_T_ERR_INVALID, MPI_T_cvar_read(eager, NULL));
    freed = eager;
    IS(MPI_SUCCESS, MPI_T_cvar_handle_free(&eager));
    CHECK(eager == MPI_T_CVAR_HANDLE_NULL, "a freed handle is not null");
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_read(freed, &n));
}

/// Each variable is in one category; each category but the first is in another one.
static void the_categories(void) {
    int n, cvars, pvars, all_cvars = 0, all_pvars = 0, below = 0, index, update[2];
    int list[512];
    IS(MPI_SUCCESS, MPI_T_category_changed(&update[0]));
    IS(MPI_SUCCESS, MPI_T_category_get_num(&n));
    for (int i = 0; i < n; ++i) {
        char name[64];
        int length = sizeof name, categories;
        IS(MPI_SUCCESS, MPI_T_category_get_info(i, name, &length, NULL, NULL, &cvars, &pvars, &categories));
        IS(MPI_SUCCESS, MPI_T_category_get_index(name, &index));
        CHECK(index == i, "%s is found at %d", name, index);
        all_cvars += cvars, all_pvars += pvars, below += categories;
        IS(MPI_SUCCESS, MPI_T_category_get_cvars(i, 512, list));
        for (int k = 1; k < cvars; ++k) CHECK(list[k] > list[k - 1], "%s has %d behind %d", name, list[k], list[k - 1]);
        list[0] = list[1] = -7;
        IS(MPI_SUCCESS, MPI_T_category_get_pvars(i, 1, list));
        CHECK((pvars > 0 ? list[0] >= 0 : list[0] == -7) && list[1] == -7, "%s: %d, %d", name, list[0], list[1]);
        IS(MPI_SUCCESS, MPI_T_category_get_categories(i, 512, list));
        for (int k = 0; k < categories; ++k) CHECK(list[k] > i && list[k] < n, "%s has %d", name, list[k]);
    }
    CHECK(below == n - 1, "%d of %d categories are in others", below, n);
    IS(MPI_SUCCESS, MPI_T_cvar_get_num(&cvars));
    IS(MPI_SUCCESS, MPI_T_pvar_get_num(&pvars));
    CHECK(cvars == all_cvars && pvars == all_pvars, "%d, %d; %d, %d", cvars, all_cvars, pvars, all_pvars);
    IS(MPI_T_ERR_INVALID_NAME, MPI_T_category_get_index("nothing", &index));
    IS(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    IS(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_cvars(n, 1, list));
    IS(MPI_T_ERR_INVALID, MPI_T_category_get_pvars(0, 1, NULL));
    IS(MPI_SUCCESS, MPI_T_category_changed(&update[1]));
    CHECK(update[0] == update[1], "categories have changed");
}

int main(int argc, char **argv) {
    int provided;
    IS(MPI_T_ERR_NOT_INITIALIZED, MPI_T_cvar_get_num(&provided));
    IS(MPI_SUCCESS, MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    write_before_init();
    MPI_Init(&argc, &argv);
    read_after_init();
    wrong_arguments();
    the_categories();
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(MPI_T_ERR_INVALID_INDEX, text, &length);
    CHECK(length > 0, "MPI_T's errors have no words");
    MPI_Finalize();
    IS(MPI_SUCCESS, MPI_T_finalize());
    return 0;
}

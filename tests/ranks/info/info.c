// SPDX-License-Identifier: BSD-3-Clause
// Info objects: order, copies, lengths, missing keys, wrong arguments, MPI_INFO_ENV.
// ranks: 1 2
#include <string.h>

#include "tests/ranks/check.h"

static void keep_order(MPI_Info info) {
    const char *keys[] = {"zebra", "ant", "monkey"};
    char key[MPI_MAX_INFO_KEY + 1];
    int n = -1;
    for (int i = 0; i < 3; ++i) MPI_Info_set(info, keys[i], "animal");
    MPI_Info_set(info, "ant", "insect");
    MPI_Info_get_nkeys(info, &n);
    CHECK(n == 3, "%d keys", n);
    for (int i = 0; i < n; ++i) {
        MPI_Info_get_nthkey(info, i, key);
        CHECK(strcmp(key, keys[i]) == 0, "key %d is '%s'", i, key);
    }
    FAILS(MPI_ERR_ARG, MPI_Info_get_nthkey(info, 3, key));
    FAILS(MPI_ERR_ARG, MPI_Info_get_nthkey(info, -1, key));
}

static void read_values(MPI_Info info) {
    char value[MPI_MAX_INFO_VAL + 1];
    int flag = -1, length = -1;
    MPI_Info_get(info, "ant", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && strcmp(value, "insect") == 0, "'%s'", value);
    memset(value, 'x', sizeof value);
    MPI_Info_get(info, "ant", 3, value, &flag);
    CHECK(flag && strcmp(value, "ins") == 0 && value[4] == 'x', "cut to 3: '%s'", value);
    MPI_Info_get_valuelen(info, "ant", &length, &flag);
    CHECK(flag && length == 6, "length %d", length);
    strcpy(value, "untouched");
    MPI_Info_get(info, "bee", 20, value, &flag);
    CHECK(!flag && strcmp(value, "untouched") == 0, "a missing key gives '%s'", value);
    length = 0;
    MPI_Info_get_string(info, "ant", &length, NULL, &flag);
    CHECK(flag && length == 7, "needs %d", length);
    length = 4;
    MPI_Info_get_string(info, "ant", &length, value, &flag);
    CHECK(flag && length == 7 && strcmp(value, "ins") == 0, "'%s', needs %d", value, length);
    length = 5;
    MPI_Info_get_string(info, "bee", &length, value, &flag);
    CHECK(!flag && length == 5, "a missing key needs %d", length);
}

static void copy_and_delete(MPI_Info info) {
    MPI_Info copy;
    int n, flag, length;
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(copy, "ant");
    MPI_Info_get_nkeys(copy, &n);
    CHECK(n == 2, "%d keys after deleting", n);
    MPI_Info_get_valuelen(info, "ant", &length, &flag);
    CHECK(flag, "deleting from the copy deleted from the original");
    FAILS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(copy, "ant"));
    MPI_Info_free(&copy);
    CHECK(copy == MPI_INFO_NULL, "freed info is %x", copy);
}

static void refuse(MPI_Info info) {
    char key[MPI_MAX_INFO_KEY + 2], value[MPI_MAX_INFO_VAL + 2];
    int flag;
    memset(key, 'k', sizeof key);
    memset(value, 'v', sizeof value);
    key[MPI_MAX_INFO_KEY + 1] = value[MPI_MAX_INFO_VAL + 1] = '\0';
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, key, "v"));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "k", value));
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, "", "v"));
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, NULL, "v"));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "k", NULL));
    FAILS(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_NULL, "k", "v"));
    FAILS(MPI_ERR_ARG, MPI_Info_get(info, "ant", -1, value, &flag));
    key[MPI_MAX_INFO_KEY] = value[MPI_MAX_INFO_VAL] = '\0';
    CHECK(MPI_Info_set(info, key, value) == MPI_SUCCESS, "the longest key and value");
    MPI_Info freed = info;
    MPI_Info_dup(info, &freed);
    MPI_Info kept = freed;
    MPI_Info_free(&freed);
    FAILS(MPI_ERR_INFO, MPI_Info_set(kept, "k", "v"));
}

static void look_at_the_start(void) {
    char value[MPI_MAX_INFO_VAL + 1], size[20];
    int flag = 0, ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(size, sizeof size, "%d", ranks);
    MPI_Info_get(MPI_INFO_ENV, "maxprocs", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && strcmp(value, size) == 0, "maxprocs is '%s'", value);
    MPI_Info_get(MPI_INFO_ENV, "command", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && strstr(value, "info"), "command is '%s'", value);
    MPI_Info_get(MPI_INFO_ENV, "thread_level", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && strcmp(value, "MPI_THREAD_SINGLE") == 0, "thread_level is '%s'", value);
    MPI_Info_get(MPI_INFO_ENV, "mpi_memory_alloc_kinds", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(flag && strcmp(value, "mpi,system") == 0, "mpi_memory_alloc_kinds is '%s'", flag ? value : "missing");
    FAILS(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_ENV, "k", "v"));
    MPI_Info environment = MPI_INFO_ENV;
    FAILS(MPI_ERR_INFO, MPI_Info_free(&environment));
}

/// Each info object that the library returns contains the memory kinds (MPI 4.1, 11.4.3).
static void memory_kinds(void) {
    MPI_Info used[2];
    MPI_Win win;
    int memory[4];
    MPI_Comm_get_info(MPI_COMM_WORLD, &used[0]);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_info(win, &used[1]);
    MPI_Win_free(&win);
    for (int i = 0; i < 2; ++i) {
        char value[MPI_MAX_INFO_VAL + 1] = "";
        int flag;
        MPI_Info_get(used[i], "mpi_memory_alloc_kinds", MPI_MAX_INFO_VAL, value, &flag);
        CHECK(flag && strcmp(value, "mpi,system") == 0, "info %d has the kinds '%s'", i, value);
        MPI_Info_free(&used[i]);
    }
}

// The same keys before and after MPI_Init, so that a program may use them early.
static void compare_with_before(MPI_Info before) {
    char value[MPI_MAX_INFO_VAL + 1], early[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    int n, flag;
    MPI_Info_get_nkeys(MPI_INFO_ENV, &n);
    CHECK(n >= 4, "only %d keys", n);
    for (int i = 0; i < n; ++i) {
        MPI_Info_get_nthkey(MPI_INFO_ENV, i, key);
        MPI_Info_get(MPI_INFO_ENV, key, MPI_MAX_INFO_VAL, value, &flag);
        MPI_Info_get(before, key, MPI_MAX_INFO_VAL, early, &flag);
        CHECK(flag && strcmp(value, early) == 0, "%s is '%s', was '%s'", key, value, flag ? early : "missing");
    }
    MPI_Info_free(&before);
}

int main(int argc, char **argv) {
    MPI_Info before;
    MPI_Info_create_env(argc, argv, &before);
    MPI_Init(&argc, &argv);
    compare_with_before(before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Info info;
    MPI_Info_create(&info);
    keep_order(info);
    read_values(info);
    copy_and_delete(info);
    refuse(info);
    MPI_Info_free(&info);
    look_at_the_start();
    memory_kinds();
    MPI_Finalize();
    return 0;
}

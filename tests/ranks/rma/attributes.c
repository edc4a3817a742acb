/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of windows: callbacks, their order when the window is freed, and predefined attributes in Fortran. */
// ranks: 1 2
#include "tests/ranks/check.h"

enum { as_pointer = 0, as_address = 1, as_integer = 3 };   /* attribute kinds of MPICH's Fortran library */
int MPII_Win_set_attr(MPI_Win win, int key, void *value, int as);
int MPII_Win_get_attr(MPI_Win win, int key, void *value, int *flag, int as);

static int deletions, log_[32], logged, extra = 77, refuse;

static int erase(MPI_Win win, int key, void *value, void *state) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    CHECK(state == &extra, "extra state %p", state);
    CHECK(win != MPI_WIN_NULL && key != MPI_KEYVAL_INVALID, "win %x, key %x", win, key);
    MPI_Win_get_name(win, name, &length);
    CHECK(name[0] == 'w', "the window is '%s' while its attributes are deleted", name);
    if (refuse) return MPI_ERR_OTHER;
    ++deletions;
    log_[logged++ % 32] = (int)(MPI_Aint)value;
    return MPI_SUCCESS;
}

static void *value(MPI_Aint number) { return (void *)number; }

static MPI_Aint get(MPI_Win win, int key) {
    void *there = NULL;
    int flag = -1;
    MPI_Win_get_attr(win, key, &there, &flag);
    return flag ? (MPI_Aint)there : -1;
}

static MPI_Win make(void *memory, MPI_Aint bytes) {
    MPI_Win win;
    MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "w");
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    return win;
}

static void callbacks(void) {
    int memory[4], first, second, plain;
    MPI_Win win = make(memory, sizeof memory);
    MPI_Win_create_keyval(MPI_WIN_DUP_FN, erase, &first, &extra);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, erase, &second, &extra);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &plain, NULL);
    CHECK(get(win, first) == -1, "before it was set, the value is %ld", (long)get(win, first));
    MPI_Win_set_attr(win, first, value(10));
    MPI_Win_set_attr(win, plain, value(20));
    MPI_Win_set_attr(win, second, value(30));
    MPI_Win_set_attr(win, first, value(40));
    CHECK(deletions == 1 && log_[0] == 10, "%d deletions, of %d", deletions, log_[0]);
    CHECK(get(win, first) == 40 && get(win, plain) == 20, "%ld %ld", (long)get(win, first), (long)get(win, plain));
    MPI_Win_delete_attr(win, plain);
    CHECK(get(win, plain) == -1, "a deleted attribute is %ld", (long)get(win, plain));
    MPI_Win_free_keyval(&second);
    CHECK(second == MPI_KEYVAL_INVALID, "a freed key is %x", second);

    refuse = 1;
    FAILS(MPI_ERR_OTHER, MPI_Win_free(&win));
    CHECK(win != MPI_WIN_NULL && get(win, first) == 40, "window %x, attribute %ld", win, (long)get(win, first));
    refuse = deletions = logged = 0;
    MPI_Win_free(&win);
    CHECK(deletions == 2 && log_[0] == 40 && log_[1] == 30, "%d deletions, %d %d", deletions, log_[0], log_[1]);
    MPI_Win_free_keyval(&first);
    MPI_Win_free_keyval(&plain);
}

static MPI_Aint fortran_value(MPI_Win win, int key) {
    MPI_Aint number = -1;
    int flag = 0;
    MPII_Win_get_attr(win, key, &number, &flag, as_address);
    CHECK(flag, "key %x is not there", key);
    return number;
}

static void from_fortran(void) {
    int memory[4], key, flag = 0, *there = NULL;
    MPI_Win win = make(memory, sizeof memory);
    CHECK(fortran_value(win, MPI_WIN_BASE + 1) == (MPI_Aint)memory, "%lx", (long)fortran_value(win, MPI_WIN_BASE + 1));
    CHECK(fortran_value(win, MPI_WIN_SIZE + 1) == sizeof memory, "%ld", (long)fortran_value(win, MPI_WIN_SIZE + 1));
    CHECK(fortran_value(win, MPI_WIN_DISP_UNIT + 1) == 4, "%ld", (long)fortran_value(win, MPI_WIN_DISP_UNIT + 1));
    CHECK(fortran_value(win, MPI_WIN_CREATE_FLAVOR + 1) == MPI_WIN_FLAVOR_CREATE, "flavour");
    CHECK(fortran_value(win, MPI_WIN_MODEL + 1) == MPI_WIN_UNIFIED, "model");
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    MPII_Win_set_attr(win, key, value(-17), as_integer);
    MPI_Win_get_attr(win, key, &there, &flag);
    CHECK(flag && *there == -17, "flag %d", flag);
    MPI_Win_free_keyval(&key);
    MPI_Win_free(&win);
}

static void wrong_keys(void) {
    int memory[4], of_comms, of_windows, flag;
    void *there;
    MPI_Win win = make(memory, sizeof memory);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comms, NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &of_windows, NULL);
    FAILS(MPI_ERR_KEYVAL, MPI_Win_set_attr(win, of_comms, NULL));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_WORLD, of_windows, NULL));
    FAILS(MPI_ERR_KEYVAL, MPI_Win_get_attr(win, MPI_TAG_UB, &there, &flag));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WIN_BASE, &there, &flag));
    FAILS(MPI_ERR_KEYVAL, MPI_Win_set_attr(win, MPI_WIN_BASE, NULL));
    FAILS(MPI_ERR_KEYVAL, MPI_Win_delete_attr(win, MPI_WIN_SIZE));
    FAILS(MPI_ERR_KEYVAL, MPI_Win_free_keyval(&of_comms));
    MPI_Comm_free_keyval(&of_comms);
    MPI_Win_free_keyval(&of_windows);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    callbacks();
    from_fortran();
    wrong_keys();
    MPI_Finalize();
    return 0;
}

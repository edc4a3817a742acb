/* SPDX-License-Identifier: BSD-3-Clause */
/* Attribute callbacks: their arguments, their order, the MPI calls that they may make, and the error codes that they
 * return. */
// ranks: 1 2
#include "tests/ranks/check.h"

static int copies, deletions, log_[32], logged, extra = 77;

static int copy(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag) {
    CHECK(state == &extra && comm == MPI_COMM_WORLD, "extra state %p, comm %x", state, comm);
    ++copies;
    *(char **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int erase(MPI_Comm comm, int key, void *value, void *state) {
    CHECK(state == &extra, "extra state %p", state);
    CHECK(comm != MPI_COMM_NULL && key != MPI_KEYVAL_INVALID, "comm %x, key %x", comm, key);
    ++deletions;
    log_[logged++ % 32] = (int)(MPI_Aint)value;
    return MPI_SUCCESS;
}

static void *value(MPI_Aint number) { return (void *)number; }

static MPI_Aint get(MPI_Comm comm, int key) {
    void *there = NULL;
    int flag = -1;
    MPI_Comm_get_attr(comm, key, &there, &flag);
    return flag ? (MPI_Aint)there : -1;
}

static void copying_and_deleting(void) {
    int key, plain, same;
    MPI_Comm twin, part;
    MPI_Comm_create_keyval(copy, erase, &key, &extra);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL);
    CHECK(get(MPI_COMM_WORLD, key) == -1, "before it was set, the value is %ld", (long)get(MPI_COMM_WORLD, key));
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, value(10));
    MPI_Comm_set_attr(MPI_COMM_WORLD, plain, value(20));
    MPI_Comm_set_attr(MPI_COMM_WORLD, same, value(30));
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, value(40));
    CHECK(deletions == 1 && log_[0] == 10, "%d deletions, of %d", deletions, log_[0]);

    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    CHECK(copies == 1, "%d copies", copies);
    CHECK(get(twin, key) == 41 && get(twin, plain) == -1 && get(twin, same) == 30, "%ld %ld %ld", (long)get(twin, key),
          (long)get(twin, plain), (long)get(twin, same));
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &part);
    CHECK(copies == 1 && get(part, key) == -1, "a part has attributes: %d copies", copies);
    MPI_Comm_free(&part);

    deletions = logged = 0;
    MPI_Comm_free(&twin);
    CHECK(deletions == 1 && log_[0] == 41, "%d deletions at the free, of %d", deletions, log_[0]);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    CHECK(deletions == 2 && get(MPI_COMM_WORLD, key) == -1, "%d deletions", deletions);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, plain);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, same);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID, "key %x", key);
    MPI_Comm_free_keyval(&plain);
    MPI_Comm_free_keyval(&same);
}

static void order_of_deletion(void) {
    int keys[4];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    for (int i = 0; i < 4; ++i) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, erase, &keys[i], &extra);
    for (int i = 3; i >= 0; --i) MPI_Comm_set_attr(comm, keys[i], value(i));
    logged = 0;
    MPI_Comm_free(&comm);
    for (int i = 0; i < 4; ++i) CHECK(log_[i] == i, "deletion %d was of %d", i, log_[i]);
    for (int i = 0; i < 4; ++i) MPI_Comm_free_keyval(&keys[i]);
}

static void keys_freed_in_use(void) {
    int key, saved, others[8];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, erase, &key, &extra);
    MPI_Comm_set_attr(comm, key, value(5));
    saved = key;
    MPI_Comm_free_keyval(&key);
    for (int i = 0; i < 8; ++i) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &others[i], NULL);
        CHECK(others[i] != saved, "a key in use was reused: %x", saved);
    }
    CHECK(get(comm, saved) == 5, "the attribute is %ld", (long)get(comm, saved));
    deletions = 0;
    MPI_Comm_free(&comm);
    CHECK(deletions == 1, "%d deletions", deletions);
    for (int i = 0; i < 8; ++i) MPI_Comm_free_keyval(&others[i]);
}

static int failing_code;
static int failing_copy(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag) { return MPI_ERR_OTHER; }
static int failing_erase(MPI_Comm comm, int key, void *value, void *state) { return failing_code; }

static void failures(void) {
    int key, first, code, deep, class_, other;
    MPI_Comm comm, twin = 12345;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, erase, &first, &extra);
    MPI_Comm_create_keyval(failing_copy, failing_erase, &key, NULL);
    MPI_Comm_set_attr(comm, first, value(8));
    MPI_Comm_set_attr(comm, key, value(9));
    deletions = 0;
    code = MPI_Comm_dup(comm, &twin);
    MPI_Error_class(code, &class_);
    CHECK(class_ == MPI_ERR_OTHER && twin == MPI_COMM_NULL, "class %d, handle %x", class_, twin);
    CHECK(deletions == 1, "the attribute copied before the failure was deleted %d times", deletions);

    MPI_Add_error_class(&other);
    MPI_Add_error_code(other, &deep);
    failing_code = deep;
    code = MPI_Comm_set_attr(comm, key, value(10));
    CHECK(code == deep, "set gave code %d instead of %d", code, deep);
    code = MPI_Comm_delete_attr(comm, key);
    CHECK(code == deep, "delete gave code %d instead of %d", code, deep);
    CHECK(get(comm, key) == 9, "after the failures the value is %ld", (long)get(comm, key));
    code = MPI_Comm_free(&comm);
    CHECK(code == deep && comm != MPI_COMM_NULL, "free gave code %d, handle %x", code, comm);
    failing_code = MPI_SUCCESS;
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&first);
}

static int second_key;
static int meddling_erase(MPI_Comm comm, int key, void *v, void *state) {
    CHECK(get(comm, key) == (MPI_Aint)v, "the attribute is missing in its callback: %ld", (long)get(comm, key));
    MPI_Comm_set_attr(comm, second_key, value(66));
    return MPI_SUCCESS;
}

static void callbacks_that_meddle(void) {
    int key;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, meddling_erase, &key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, erase, &second_key, &extra);
    MPI_Comm_set_attr(comm, second_key, value(1));
    MPI_Comm_set_attr(comm, key, value(2));
    logged = 0;
    MPI_Comm_free(&comm);
    CHECK(logged == 2 && log_[0] == 1 && log_[1] == 66, "%d deletions: %d, %d", logged, log_[0], log_[1]);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&second_key);
}

static void old_names(void) {
    int key, flag;
    void *there;
    MPI_Comm twin;
    MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Attr_put(MPI_COMM_WORLD, key, value(3));
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Attr_get(twin, key, &there, &flag);
    CHECK(flag && there == value(3), "flag %d, value %p", flag, there);
    MPI_Attr_delete(MPI_COMM_WORLD, key);
    MPI_Attr_get(MPI_COMM_WORLD, key, &there, &flag);
    CHECK(!flag, "flag %d", flag);
    MPI_Comm_free(&twin);
    MPI_Keyval_free(&key);
    CHECK(key == MPI_KEYVAL_INVALID, "key %x", key);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    copying_and_deleting();
    order_of_deletion();
    keys_freed_in_use();
    failures();
    callbacks_that_meddle();
    old_names();
    MPI_Finalize();
    return 0;
}

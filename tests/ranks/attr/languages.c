/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes set in one language and read in the other (MPI 3.1, 17.2.7), through the functions that MPICH's Fortran
 * library calls. */
// ranks: 1
#include "tests/ranks/check.h"

enum { as_pointer = 0, as_address = 1, as_integer = 3 };   /* the kinds of attribute value in that library's calls */

typedef int copy_proxy(MPI_Comm_copy_attr_function *user, int handle, int key, void *extra, int as, void *value,
                       void **copy, int *flag);
typedef int delete_proxy(MPI_Comm_delete_attr_function *user, int handle, int key, int as, void *value, void *extra);
int MPII_Comm_set_attr(MPI_Comm comm, int key, void *value, int as);
int MPII_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag, int as);
void MPII_Keyval_set_proxy(int key, copy_proxy *copy, delete_proxy *remove);

static MPI_Aint fortran_value(MPI_Comm comm, int key) {
    MPI_Aint value = -1;
    int flag = 0;
    MPII_Comm_get_attr(comm, key, &value, &flag, as_address);
    CHECK(flag, "key %x is not there", key);
    return value;
}

static void *c_value(MPI_Comm comm, int key) {
    void *value = NULL;
    int flag = 0;
    MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(flag, "key %x is not there", key);
    return value;
}

static void reading(void) {
    int key, here = 5;
    MPI_Comm twin;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);

    MPI_Comm_set_attr(MPI_COMM_SELF, key, &here);
    CHECK(fortran_value(MPI_COMM_SELF, key) == (MPI_Aint)&here, "%lx", (long)fortran_value(MPI_COMM_SELF, key));

    MPII_Comm_set_attr(MPI_COMM_SELF, key, (void *)(MPI_Aint)-17, as_integer);
    CHECK(*(int *)c_value(MPI_COMM_SELF, key) == -17, "%d", *(int *)c_value(MPI_COMM_SELF, key));
    CHECK(fortran_value(MPI_COMM_SELF, key) == -17, "%ld", (long)fortran_value(MPI_COMM_SELF, key));

    MPI_Aint large = (MPI_Aint)1 << 40;
    MPII_Comm_set_attr(MPI_COMM_SELF, key, (void *)large, as_address);
    CHECK(*(MPI_Aint *)c_value(MPI_COMM_SELF, key) == large, "%ld", (long)*(MPI_Aint *)c_value(MPI_COMM_SELF, key));

    /* A copy made by MPI_COMM_DUP_FN of C is an integer with its own storage. */
    MPI_Comm_dup(MPI_COMM_SELF, &twin);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    CHECK(*(MPI_Aint *)c_value(twin, key) == large, "%ld", (long)*(MPI_Aint *)c_value(twin, key));
    MPI_Comm_free(&twin);
    MPI_Comm_free_keyval(&key);
}

static int proxied;
static MPI_Comm_copy_attr_function *const user_copy = (MPI_Comm_copy_attr_function *)0x1000;
static MPI_Comm_delete_attr_function *const user_delete = (MPI_Comm_delete_attr_function *)0x2000;

static int copy(MPI_Comm_copy_attr_function *user, int handle, int key, void *extra, int as, void *value, void **result,
                int *flag) {
    CHECK(user == user_copy && handle == MPI_COMM_SELF && extra == &proxied, "%x, extra %p", handle, extra);
    CHECK(as == as_integer && (MPI_Aint)value == 30, "given as %d: %ld", as, (long)value);
    *result = (void *)(MPI_Aint)31;
    *flag = 1;
    return MPI_SUCCESS;
}

static int erase(MPI_Comm_delete_attr_function *user, int handle, int key, int as, void *value, void *extra) {
    CHECK(user == user_delete && extra == &proxied, "extra %p", extra);
    CHECK(as == as_integer, "given as %d", as);
    proxied += (int)(MPI_Aint)value;
    return MPI_SUCCESS;
}

static void callbacks(void) {
    int key;
    MPI_Comm twin;
    MPI_Comm_create_keyval(user_copy, user_delete, &key, &proxied);
    MPII_Keyval_set_proxy(key, copy, erase);
    MPII_Comm_set_attr(MPI_COMM_SELF, key, (void *)(MPI_Aint)30, as_integer);
    MPI_Comm_dup(MPI_COMM_SELF, &twin);
    CHECK(fortran_value(twin, key) == 31, "%ld", (long)fortran_value(twin, key));
    MPI_Comm_free(&twin);
    CHECK(proxied == 31, "%d", proxied);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    CHECK(proxied == 61, "%d", proxied);
    MPI_Comm_free_keyval(&key);
}

static void predefined(void) {
    enum { fortran_tag_ub = 0x64400002, fortran_universe = 0x6440000a };
    CHECK(fortran_value(MPI_COMM_WORLD, fortran_tag_ub) == *(int *)c_value(MPI_COMM_WORLD, MPI_TAG_UB), "%ld",
          (long)fortran_value(MPI_COMM_WORLD, fortran_tag_ub));
    CHECK(fortran_value(MPI_COMM_WORLD, fortran_universe) == 1, "%ld",
          (long)fortran_value(MPI_COMM_WORLD, fortran_universe));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    reading();
    callbacks();
    predefined();
    MPI_Finalize();
    return 0;
}

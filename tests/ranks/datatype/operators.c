// SPDX-License-Identifier: BSD-3-Clause
// Operators in MPI_Reduce_local: built-in, user-defined on derived datatypes, and operand order; datatype attributes.
// ranks: 1
#include "tests/ranks/check.h"
#include <stdbool.h>

struct weighted {
    double value;
    int weight;
};

static void keep_heavier(void *in, void *inout, int *n, MPI_Datatype *type) {
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    CHECK(extent == sizeof(struct weighted), "the operator sees extent %ld", (long)extent);
    struct weighted *a = in, *b = inout;
    for (int i = 0; i < *n; ++i)
        if (a[i].weight >= b[i].weight) b[i] = a[i];
}

static void subtract(void *in, void *inout, int *n, MPI_Datatype *type) {
    for (int i = 0; i < *n; ++i) ((int *)inout)[i] = ((int *)in)[i] - ((int *)inout)[i];
}

static void user_operators(void) {
    struct weighted in[2] = {{1.5, 4}, {2.5, 1}}, inout[2] = {{9, 3}, {8, 3}};
    int ones[2] = {1, 1}, commutes, a[3] = {10, 20, 30}, b[3] = {1, 2, 3};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_INT}, type;
    MPI_Op heavier, minus;
    MPI_Type_create_struct(2, ones, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(keep_heavier, 1, &heavier);
    MPI_Op_create(subtract, 0, &minus);
    MPI_Reduce_local(in, inout, 2, type, heavier);
    CHECK(inout[0].value == 1.5 && inout[1].value == 8, "%g %g", inout[0].value, inout[1].value);
    MPI_Reduce_local(a, b, 3, MPI_INT, minus);
    CHECK(b[0] == 9 && b[2] == 27, "%d %d", b[0], b[2]);
    MPI_Op_commutative(minus, &commutes);
    CHECK(!commutes, "an operator made with commute 0 commutes");
    MPI_Op_commutative(MPI_SUM, &commutes);
    CHECK(commutes, "MPI_SUM does not commute");
    MPI_Op_free(&heavier);
    MPI_Op_free(&minus);
    CHECK(minus == MPI_OP_NULL, "a freed operator is %x", (unsigned)minus);
    MPI_Type_free(&type);
}

static void builtin_operators(void) {
    struct { double value; int index; } in = {2, 7}, inout = {2, 3};
    MPI_Reduce_local(&in, &inout, 1, MPI_DOUBLE_INT, MPI_MAXLOC);
    CHECK(inout.index == 3, "of equal values the lower index wins, not %d", inout.index);
    bool yes = true, no = false;
    MPI_Reduce_local(&yes, &no, 1, MPI_C_BOOL, MPI_LXOR);
    CHECK(no == true, "true xor false");
    signed char a = 100, b = 100;
    MPI_Reduce_local(&a, &b, 1, MPI_SIGNED_CHAR, MPI_SUM);
    CHECK(b == (signed char)200, "sums of small integers wrap: %d", b);
    long double x = 1.25L, y = 2.5L;
    MPI_Reduce_local(&x, &y, 1, MPI_LONG_DOUBLE, MPI_PROD);
    CHECK(y == 3.125L, "%Lg", y);
    double _Complex c = 1 + 2i, d = 3 - 1i;
    MPI_Reduce_local(&c, &d, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD);
    CHECK(d == (1 + 2i) * (3 - 1i), "%g", __real__ d);
}

static int copied, deleted;
static int copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag) {
    ++copied;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete(MPI_Datatype type, int key, void *value, void *extra) {
    ++deleted;
    return MPI_SUCCESS;
}

static void attributes(void) {
    int key, found;
    char text[3];
    char *value;
    MPI_Datatype type, twin;
    MPI_Type_create_keyval(copy, delete, &key, NULL);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, key, text);
    MPI_Type_dup(type, &twin);
    MPI_Type_get_attr(twin, key, &value, &found);
    CHECK(found && value == text + 1 && copied == 1, "found %d, copied %d", found, copied);
    MPI_Type_delete_attr(twin, key);
    MPI_Type_get_attr(twin, key, &value, &found);
    CHECK(!found && deleted == 1, "found %d, deleted %d", found, deleted);
    MPI_Type_free(&type);
    CHECK(deleted == 2, "freeing a type deletes its attributes: %d", deleted);
    MPI_Type_free(&twin);
    MPI_Type_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID, "%x", (unsigned)key);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    builtin_operators();
    user_operators();
    attributes();
    MPI_Finalize();
    return 0;
}

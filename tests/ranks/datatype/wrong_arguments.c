// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of datatype and operator calls: each returns its error class and a message that names call and
// argument.
// ranks: 1
#include "tests/ranks/check.h"
#include <string.h>

static void expect(int code, int expected, const char *call, const char *word) {
    int class, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    CHECK(class == expected, "class %d instead of %d: %s", class, expected, text);
    CHECK(strstr(text, call) && strstr(text, word), "the message lacks %s or %s: %s", call, word, text);
}

static void wrong_constructors(void) {
    MPI_Datatype t, none = MPI_DATATYPE_NULL, freed;
    int negative[1] = {-1}, one[1] = {1}, two[1] = {2};
    MPI_Aint place[1] = {0};
    expect(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT, "MPI_Type_contiguous", "-1");
    expect(MPI_Type_contiguous(1, none, &t), MPI_ERR_TYPE, "MPI_Type_contiguous", "oldtype");
    expect(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG, "MPI_Type_contiguous", "newtype");
    expect(MPI_Type_vector(1, -2, 1, MPI_INT, &t), MPI_ERR_ARG, "MPI_Type_vector", "blocklength is -2");
    expect(MPI_Type_indexed(1, negative, one, MPI_INT, &t),
           MPI_ERR_ARG, "MPI_Type_indexed", "array_of_blocklengths[0]");
    expect(MPI_Type_indexed(1, NULL, one, MPI_INT, &t), MPI_ERR_ARG, "MPI_Type_indexed", "array_of_blocklengths");
    expect(MPI_Type_create_struct(1, one, place, &none, &t), MPI_ERR_TYPE, "MPI_Type_create_struct", "array_of_types");
    expect(MPI_Type_create_subarray(1, one, two, one, MPI_ORDER_C, MPI_INT, &t),
           MPI_ERR_ARG, "MPI_Type_create_subarray", "subsizes[0] is 2");
    expect(MPI_Type_create_subarray(0, one, two, one, MPI_ORDER_C, MPI_INT, &t),
           MPI_ERR_DIMS, "MPI_Type_create_subarray", "ndims");
    expect(MPI_Type_create_f90_integer(40, &t), MPI_ERR_ARG, "MPI_Type_create_f90_integer", "40");
    expect(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &t), MPI_ERR_ARG, "MPI_Type_match_size", "3 bytes");
    t = MPI_INT;
    expect(MPI_Type_free(&t), MPI_ERR_TYPE, "MPI_Type_free", "predefined");
    MPI_Type_contiguous(1, MPI_INT, &t);
    freed = t;
    MPI_Type_free(&t);
    expect(MPI_Type_commit(&freed), MPI_ERR_TYPE, "MPI_Type_commit", "already freed");
}

static void wrong_operators(void) {
    MPI_Op op = MPI_SUM;
    MPI_Datatype two;
    double a[2] = {0, 0}, b[2] = {0, 0};
    MPI_Type_contiguous(2, MPI_DOUBLE, &two);
    MPI_Type_commit(&two);
    expect(MPI_Op_free(&op), MPI_ERR_OP, "MPI_Op_free", "predefined");
    expect(MPI_Reduce_local(a, b, 1, MPI_DOUBLE, MPI_BXOR),
           MPI_ERR_OP, "MPI_Reduce_local", "MPI_BXOR is not defined on MPI_DOUBLE");
    expect(MPI_Reduce_local(a, b, 1, two, MPI_SUM), MPI_ERR_OP, "MPI_Reduce_local", "derived");
    expect(MPI_Reduce_local(a, b, 1, MPI_DOUBLE, MPI_OP_NULL), MPI_ERR_OP, "MPI_Reduce_local", "null");
    expect(MPI_Reduce_local(a, a, 1, MPI_DOUBLE, MPI_SUM), MPI_ERR_BUFFER, "MPI_Reduce_local", "same buffer");
    expect(MPI_Reduce_local(a, b, -1, MPI_DOUBLE, MPI_SUM), MPI_ERR_COUNT, "MPI_Reduce_local", "-1");
    expect(MPI_Op_create(NULL, 1, &op), MPI_ERR_ARG, "MPI_Op_create", "user_fn");
    MPI_Type_free(&two);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    wrong_constructors();
    wrong_operators();
    MPI_Finalize();
    return 0;
}

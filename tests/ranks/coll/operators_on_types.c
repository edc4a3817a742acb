// SPDX-License-Identifier: BSD-3-Clause
// Tests which predefined operators are defined on which datatypes (MPI 4.1, 6.9.2): the standard's table, and the
// combinations that programs use and that MPICH and Open MPI add (for MPI_INTEGER, MPICH alone).
// ranks: 1 2
#include "tests/ranks/check.h"

enum kinds {
    c_integer = 1,
    fortran_integer = 2,
    floating = 4,
    logical = 8,
    complex = 16,
    byte = 32,
    address = 64,
    pair = 128
};

static const struct {
    MPI_Datatype type;
    const char *name;
    int kind;
} types[] = {
#define TYPE(type, kind) {type, #type, kind}
    TYPE(MPI_CHAR, c_integer), TYPE(MPI_SIGNED_CHAR, c_integer), TYPE(MPI_UNSIGNED_CHAR, c_integer),
    TYPE(MPI_SHORT, c_integer), TYPE(MPI_UNSIGNED_SHORT, c_integer), TYPE(MPI_INT, c_integer),
    TYPE(MPI_UNSIGNED, c_integer), TYPE(MPI_LONG, c_integer), TYPE(MPI_UNSIGNED_LONG, c_integer),
    TYPE(MPI_LONG_LONG, c_integer), TYPE(MPI_UNSIGNED_LONG_LONG, c_integer), TYPE(MPI_INT8_T, c_integer),
    TYPE(MPI_INT16_T, c_integer), TYPE(MPI_INT32_T, c_integer), TYPE(MPI_INT64_T, c_integer),
    TYPE(MPI_UINT8_T, c_integer), TYPE(MPI_UINT16_T, c_integer), TYPE(MPI_UINT32_T, c_integer),
    TYPE(MPI_UINT64_T, c_integer), TYPE(MPI_INTEGER, fortran_integer), TYPE(MPI_INTEGER1, fortran_integer),
    TYPE(MPI_INTEGER2, fortran_integer), TYPE(MPI_INTEGER4, fortran_integer), TYPE(MPI_INTEGER8, fortran_integer),
    TYPE(MPI_CHARACTER, fortran_integer), TYPE(MPI_FLOAT, floating), TYPE(MPI_DOUBLE, floating),
    TYPE(MPI_REAL, floating), TYPE(MPI_DOUBLE_PRECISION, floating), TYPE(MPI_LONG_DOUBLE, floating),
    TYPE(MPI_REAL4, floating), TYPE(MPI_REAL8, floating), TYPE(MPI_REAL16, floating), TYPE(MPI_LOGICAL, logical),
    TYPE(MPI_C_BOOL, logical), TYPE(MPI_CXX_BOOL, logical), TYPE(MPI_COMPLEX, complex),
    TYPE(MPI_C_COMPLEX, complex), TYPE(MPI_C_DOUBLE_COMPLEX, complex), TYPE(MPI_C_LONG_DOUBLE_COMPLEX, complex),
    TYPE(MPI_DOUBLE_COMPLEX, complex), TYPE(MPI_COMPLEX8, complex), TYPE(MPI_COMPLEX16, complex),
    TYPE(MPI_COMPLEX32, complex), TYPE(MPI_CXX_FLOAT_COMPLEX, complex), TYPE(MPI_CXX_DOUBLE_COMPLEX, complex),
    TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX, complex), TYPE(MPI_BYTE, byte), TYPE(MPI_AINT, address),
    TYPE(MPI_OFFSET, address), TYPE(MPI_COUNT, address), TYPE(MPI_FLOAT_INT, pair), TYPE(MPI_DOUBLE_INT, pair),
    TYPE(MPI_LONG_INT, pair), TYPE(MPI_2INT, pair), TYPE(MPI_SHORT_INT, pair), TYPE(MPI_LONG_DOUBLE_INT, pair),
    TYPE(MPI_2REAL, pair), TYPE(MPI_2DOUBLE_PRECISION, pair), TYPE(MPI_2INTEGER, pair), TYPE(MPI_WCHAR, 0),
    TYPE(MPI_PACKED, 0),
};

static const struct {
    MPI_Op op;
    const char *name;
    int kinds;
} ops[] = {
#define OP(op, kinds) {op, #op, kinds}
    OP(MPI_MAX, c_integer | fortran_integer | floating | address),
    OP(MPI_MIN, c_integer | fortran_integer | floating | address),
    OP(MPI_SUM, c_integer | fortran_integer | floating | complex | address),
    OP(MPI_PROD, c_integer | fortran_integer | floating | complex | address),
    OP(MPI_LAND, c_integer | logical | fortran_integer | address),
    OP(MPI_LOR, c_integer | logical | fortran_integer | address),
    OP(MPI_LXOR, c_integer | logical | fortran_integer | address),
    OP(MPI_BAND, c_integer | fortran_integer | byte | address),
    OP(MPI_BOR, c_integer | fortran_integer | byte | address),
    OP(MPI_BXOR, c_integer | fortran_integer | byte | address),
    OP(MPI_MAXLOC, pair),
    OP(MPI_MINLOC, pair),
    OP(MPI_REPLACE, 0),
    OP(MPI_NO_OP, 0),
};

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (unsigned o = 0; o < sizeof ops / sizeof *ops; ++o)
        for (unsigned t = 0; t < sizeof types / sizeof *types; ++t) {
            static char in[64], out[64];
            MPI_Request request = MPI_REQUEST_NULL;
            int class = -1, later = -1, wanted = ops[o].kinds & types[t].kind ? MPI_SUCCESS : MPI_ERR_OP;
            MPI_Error_class(MPI_Allreduce(in, out, 1, types[t].type, ops[o].op, MPI_COMM_WORLD), &class);
            CHECK(class == wanted, "%s on %s gives class %d", ops[o].name, types[t].name, class);
            MPI_Error_class(MPI_Iscan(in, out, 1, types[t].type, ops[o].op, MPI_COMM_WORLD, &request), &later);
            CHECK(later == wanted, "%s on %s gives class %d in MPI_Iscan", ops[o].name, types[t].name, later);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Each predefined datatype has the size that external32 defines (MPI 4.1, table 14.2 and 14.5.2). A pair type has the
// size of its parts together and is packed like the struct of its parts.
// ranks: 1
#include <stddef.h>
#include <string.h>

#include "tests/ranks/check.h"

static const struct {
    MPI_Datatype type;
    const char *name;
    int bytes;
} table[] = {
#define ROW(type, bytes) {type, #type, bytes}
    ROW(MPI_PACKED, 1), ROW(MPI_BYTE, 1), ROW(MPI_CHAR, 1), ROW(MPI_UNSIGNED_CHAR, 1), ROW(MPI_SIGNED_CHAR, 1),
    ROW(MPI_WCHAR, 2), ROW(MPI_SHORT, 2), ROW(MPI_UNSIGNED_SHORT, 2), ROW(MPI_INT, 4), ROW(MPI_UNSIGNED, 4),
    ROW(MPI_LONG, 4), ROW(MPI_UNSIGNED_LONG, 4), ROW(MPI_LONG_LONG_INT, 8), ROW(MPI_LONG_LONG, 8),
    ROW(MPI_UNSIGNED_LONG_LONG, 8), ROW(MPI_FLOAT, 4), ROW(MPI_DOUBLE, 8), ROW(MPI_LONG_DOUBLE, 16),
    ROW(MPI_C_BOOL, 1), ROW(MPI_INT8_T, 1), ROW(MPI_INT16_T, 2), ROW(MPI_INT32_T, 4), ROW(MPI_INT64_T, 8),
    ROW(MPI_UINT8_T, 1), ROW(MPI_UINT16_T, 2), ROW(MPI_UINT32_T, 4), ROW(MPI_UINT64_T, 8), ROW(MPI_AINT, 8),
    ROW(MPI_COUNT, 8), ROW(MPI_OFFSET, 8), ROW(MPI_C_COMPLEX, 8), ROW(MPI_C_FLOAT_COMPLEX, 8),
    ROW(MPI_C_DOUBLE_COMPLEX, 16), ROW(MPI_C_LONG_DOUBLE_COMPLEX, 32), ROW(MPI_CXX_BOOL, 1),
    ROW(MPI_CXX_FLOAT_COMPLEX, 8), ROW(MPI_CXX_DOUBLE_COMPLEX, 16), ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, 32),
    ROW(MPI_CHARACTER, 1), ROW(MPI_LOGICAL, 4), ROW(MPI_INTEGER, 4), ROW(MPI_REAL, 4), ROW(MPI_DOUBLE_PRECISION, 8),
    ROW(MPI_COMPLEX, 8), ROW(MPI_DOUBLE_COMPLEX, 16), ROW(MPI_INTEGER1, 1), ROW(MPI_INTEGER2, 2),
    ROW(MPI_INTEGER4, 4), ROW(MPI_INTEGER8, 8), ROW(MPI_REAL4, 4), ROW(MPI_REAL8, 8), ROW(MPI_REAL16, 16),
    ROW(MPI_COMPLEX8, 8), ROW(MPI_COMPLEX16, 16), ROW(MPI_COMPLEX32, 32),
    ROW(MPI_FLOAT_INT, 8), ROW(MPI_DOUBLE_INT, 12), ROW(MPI_LONG_INT, 8), ROW(MPI_SHORT_INT, 6), ROW(MPI_2INT, 8),
    ROW(MPI_LONG_DOUBLE_INT, 20), ROW(MPI_2INTEGER, 8), ROW(MPI_2REAL, 8), ROW(MPI_2DOUBLE_PRECISION, 16),
};

static void sizes(void) {
    for (unsigned i = 0; i < sizeof table / sizeof *table; ++i)
        for (int count = 0; count <= 3; ++count) {
            MPI_Aint bytes = -1;
            MPI_Pack_external_size("external32", count, table[i].type, &bytes);
            CHECK(bytes == count * table[i].bytes, "%d of %s take %ld bytes", count, table[i].name, (long)bytes);
        }
}

/// A pair on one side, the struct of its parts on the other.
#define AS_STRUCT(pair, first_type, first)                                                                        \
    do {                                                                                                          \
        struct both {                                                                                             \
            first value;                                                                                          \
            int index;                                                                                            \
        } sent[2] = {{-5, 7}, {100, -9}}, got[2];                                                                 \
        int ones[2] = {1, 1};                                                                                     \
        MPI_Aint places[2] = {0, offsetof(struct both, index)}, bytes, at = 0;                                    \
        MPI_Datatype parts[2] = {first_type, MPI_INT}, type, twice;                                               \
        char packed[64];                                                                                          \
        MPI_Type_create_struct(2, ones, places, parts, &type);                                                    \
        MPI_Type_create_resized(type, 0, sizeof(struct both), &twice);                                            \
        MPI_Type_commit(&twice);                                                                                  \
        memset(got, 0, sizeof got);                                                                               \
        MPI_Pack_external_size("external32", 2, twice, &bytes);                                                   \
        MPI_Pack_external("external32", sent, 2, pair, packed, sizeof packed, &at);                               \
        CHECK(at == bytes, #pair ": %ld bytes, as a struct %ld", (long)at, (long)bytes);                          \
        at = 0;                                                                                                   \
        MPI_Unpack_external("external32", packed, bytes, &at, got, 2, twice);                                     \
        for (int i = 0; i < 2; ++i)                                                                               \
            CHECK(got[i].value == sent[i].value && got[i].index == sent[i].index, #pair ": pair %d differs", i);  \
        MPI_Type_free(&type);                                                                                     \
        MPI_Type_free(&twice);                                                                                    \
    } while (0)

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    sizes();
    AS_STRUCT(MPI_LONG_INT, MPI_LONG, long);
    AS_STRUCT(MPI_SHORT_INT, MPI_SHORT, short);
    AS_STRUCT(MPI_FLOAT_INT, MPI_FLOAT, float);
    AS_STRUCT(MPI_DOUBLE_INT, MPI_DOUBLE, double);
    AS_STRUCT(MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, long double);
    AS_STRUCT(MPI_2INT, MPI_INT, int);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Envelope and contents of datatypes, names, and duplicates; datatypes returned by MPI_Type_get_contents can be freed.
// ranks: 1
#include "tests/ranks/check.h"
#include <string.h>

static void envelope(MPI_Datatype type, int integers, int addresses, int types, int combiner) {
    int i, a, t, c;
    MPI_Type_get_envelope(type, &i, &a, &t, &c);
    CHECK(i == integers && a == addresses && t == types && c == combiner, "envelope %d %d %d, combiner %d", i, a, t, c);
}

static void made(MPI_Datatype *type, int integers, int addresses, int types, int combiner) {
    envelope(*type, integers, addresses, types, combiner);
    MPI_Type_free(type);
    CHECK(*type == MPI_DATATYPE_NULL, "a freed handle is null, not %x", (unsigned)*type);
}

static void struct_contents(void) {
    MPI_Datatype inner, outer, parts[2], got[2];
    int blocks[2] = {3, 1}, integers[3];
    MPI_Aint places[2] = {8, 100}, addresses[2];
    MPI_Type_vector(2, 3, 5, MPI_INT, &inner);
    parts[0] = inner;
    parts[1] = MPI_DOUBLE;
    MPI_Type_create_struct(2, blocks, places, parts, &outer);
    MPI_Type_free(&inner);
    envelope(outer, 3, 2, 2, MPI_COMBINER_STRUCT);
    MPI_Type_get_contents(outer, 3, 2, 2, integers, addresses, got);
    int const *n = integers;
    CHECK(n[0] == 2 && n[1] == 3 && n[2] == 1, "integers %d %d %d", n[0], n[1], n[2]);
    CHECK(addresses[0] == 8 && addresses[1] == 100, "addresses %ld %ld", (long)addresses[0], (long)addresses[1]);
    CHECK(got[1] == MPI_DOUBLE, "a predefined type is returned as %x", (unsigned)got[1]);
    envelope(got[0], 3, 0, 1, MPI_COMBINER_VECTOR);
    int v[3];
    MPI_Datatype of;
    MPI_Type_get_contents(got[0], 3, 0, 1, v, NULL, &of);
    CHECK(v[0] == 2 && v[1] == 3 && v[2] == 5 && of == MPI_INT, "%d %d %d", v[0], v[1], v[2]);
    MPI_Type_free(&got[0]);
    int size;
    MPI_Type_size(outer, &size);
    CHECK(size == 3 * 24 + 8, "size %d", size);
    MPI_Type_free(&outer);
}

static void all_combiners(void) {
    MPI_Datatype t;
    int ones[2] = {1, 1}, twos[2] = {2, 2}, zeros[2] = {0, 0};
    MPI_Aint places[2] = {0, 64};
    int distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int defaults[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    envelope(MPI_INT, 0, 0, 0, MPI_COMBINER_NAMED);
    envelope(MPI_DOUBLE_INT, 0, 0, 0, MPI_COMBINER_NAMED);
    MPI_Type_dup(MPI_INT, &t);
    made(&t, 0, 0, 1, MPI_COMBINER_DUP);
    MPI_Type_contiguous(4, MPI_INT, &t);
    made(&t, 1, 0, 1, MPI_COMBINER_CONTIGUOUS);
    MPI_Type_create_hvector(4, 1, 9, MPI_INT, &t);
    made(&t, 2, 1, 1, MPI_COMBINER_HVECTOR);
    MPI_Type_indexed(2, ones, twos, MPI_INT, &t);
    made(&t, 5, 0, 1, MPI_COMBINER_INDEXED);
    MPI_Type_create_hindexed(2, ones, places, MPI_INT, &t);
    made(&t, 3, 2, 1, MPI_COMBINER_HINDEXED);
    MPI_Type_create_indexed_block(2, 1, twos, MPI_INT, &t);
    made(&t, 4, 0, 1, MPI_COMBINER_INDEXED_BLOCK);
    MPI_Type_create_hindexed_block(2, 1, places, MPI_INT, &t);
    made(&t, 2, 2, 1, MPI_COMBINER_HINDEXED_BLOCK);
    MPI_Type_create_resized(MPI_INT, -4, 12, &t);
    made(&t, 0, 2, 1, MPI_COMBINER_RESIZED);
    MPI_Type_create_subarray(2, twos, ones, zeros, MPI_ORDER_C, MPI_INT, &t);
    made(&t, 8, 0, 1, MPI_COMBINER_SUBARRAY);
    MPI_Type_create_darray(1, 0, 2, twos, distributions, defaults, ones, MPI_ORDER_FORTRAN, MPI_INT, &t);
    made(&t, 12, 0, 1, MPI_COMBINER_DARRAY);
}

static void f90_types(void) {
    MPI_Datatype a, b, c;
    int values[2];
    MPI_Type_create_f90_real(10, 100, &a);
    MPI_Type_create_f90_real(10, 100, &b);
    CHECK(a == b, "equal arguments give equal types, not %x and %x", (unsigned)a, (unsigned)b);
    envelope(a, 2, 0, 0, MPI_COMBINER_F90_REAL);
    MPI_Type_get_contents(a, 2, 0, 0, values, NULL, NULL);
    CHECK(values[0] == 10 && values[1] == 100, "%d %d", values[0], values[1]);
    double in = 2, inout = 3;
    MPI_Reduce_local(&in, &inout, 1, a, MPI_SUM);
    CHECK(inout == 5, "%g", inout);
    MPI_Type_create_f90_integer(9, &c);
    envelope(c, 1, 0, 0, MPI_COMBINER_F90_INTEGER);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &c);
    CHECK(c == MPI_DOUBLE_PRECISION, "%x", (unsigned)c);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    struct_contents();
    all_combiners();
    f90_types();
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(MPI_DOUBLE, name, &length);
    CHECK(strcmp(name, "MPI_DOUBLE") == 0 && length == 10, "%s", name);
    MPI_Datatype t;
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_get_name(t, name, &length);
    CHECK(name[0] == 0 && length == 0, "%s", name);
    MPI_Type_set_name(t, "two ints");
    MPI_Type_get_name(t, name, &length);
    CHECK(strcmp(name, "two ints") == 0 && length == 8, "%s", name);
    MPI_Type_free(&t);
    MPI_Finalize();
    return 0;
}

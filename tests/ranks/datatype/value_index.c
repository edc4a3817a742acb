/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Type_get_value_index finds the pair types by the types of their parts, and the result works in reductions. */
// ranks: 1 2 4
#include "tests/ranks/check.h"

static MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index) {
    MPI_Datatype pair = MPI_BYTE;
    CHECK(MPI_Type_get_value_index(value, index, &pair) == MPI_SUCCESS, "of %x and %x", value, index);
    return pair;
}

int main(int argc, char **argv) {
    int me, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(pair_of(MPI_FLOAT, MPI_INT) == MPI_FLOAT_INT, "%s", "float");
    CHECK(pair_of(MPI_DOUBLE, MPI_INT) == MPI_DOUBLE_INT, "%s", "double");
    CHECK(pair_of(MPI_LONG, MPI_INT) == MPI_LONG_INT, "%s", "long");
    CHECK(pair_of(MPI_SHORT, MPI_INT) == MPI_SHORT_INT, "%s", "short");
    CHECK(pair_of(MPI_INT, MPI_INT) == MPI_2INT, "%s", "int");
    CHECK(pair_of(MPI_LONG_DOUBLE, MPI_INT) == MPI_LONG_DOUBLE_INT, "%s", "long double");
    CHECK(pair_of(MPI_INTEGER, MPI_INTEGER) == MPI_2INTEGER, "%s", "INTEGER");
    CHECK(pair_of(MPI_REAL, MPI_REAL) == MPI_2REAL, "%s", "REAL");
    CHECK(pair_of(MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION) == MPI_2DOUBLE_PRECISION, "%s", "DOUBLE PRECISION");
    CHECK(pair_of(MPI_CHAR, MPI_INT) == MPI_DATATYPE_NULL, "%s", "char");
    CHECK(pair_of(MPI_DOUBLE, MPI_LONG) == MPI_DATATYPE_NULL, "%s", "double and long");
    CHECK(pair_of(MPI_DOUBLE_INT, MPI_INT) == MPI_DATATYPE_NULL, "%s", "a pair as a value");

    struct { double value; int index; } mine = {(me * 7 + 3) % 5, me}, least;
    MPI_Allreduce(&mine, &least, 1, pair_of(MPI_DOUBLE, MPI_INT), MPI_MINLOC, MPI_COMM_WORLD);
    for (int rank = 0; rank < size; ++rank)
        CHECK(least.value <= (rank * 7 + 3) % 5, "rank %d has less than %g of %d", rank, least.value, least.index);
    CHECK(least.value == (least.index * 7 + 3) % 5, "%g is not rank %d's", least.value, least.index);

    MPI_Datatype pair;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_TYPE, MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair));
    FAILS(MPI_ERR_TYPE, MPI_Type_get_value_index(MPI_INT, MPI_DATATYPE_NULL, &pair));
    FAILS(MPI_ERR_ARG, MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL));
    MPI_Finalize();
    return 0;
}

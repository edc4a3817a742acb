// SPDX-License-Identifier: BSD-3-Clause
// MPI_Status_set_elements: MPI_Get_elements and MPI_Get_count return the values, also for mixed datatypes and large
// counts.
// ranks: 1
#include "tests/ranks/check.h"

#include <limits.h>

static void elements(MPI_Datatype type, MPI_Count n, const char *name) {
    MPI_Status s;
    MPI_Count found = -1;
    int flag = -1;
    MPI_Status_set_cancelled(&s, 1);
    MPI_Status_set_elements_x(&s, type, n);
    MPI_Get_elements_x(&s, type, &found);
    CHECK(found == n, "%s: %lld elements instead of %lld", name, (long long)found, (long long)n);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag == 1, "%s: not cancelled any more", name);
    MPI_Status_set_cancelled(&s, 0);
    MPI_Test_cancelled(&s, &flag);
    MPI_Get_elements_x(&s, type, &found);
    CHECK(flag == 0 && found == n, "%s: cancelled %d, %lld elements", name, flag, (long long)found);
}

int main(int argc, char **argv) {
    MPI_Datatype mixed, many;
    int lengths[] = {1, 2, 3}, n = -1;
    MPI_Aint at[] = {0, 8, 24};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Status s;
    MPI_Init(&argc, &argv);
    MPI_Type_create_struct(3, lengths, at, types, &mixed);
    MPI_Type_vector(3, 2, 5, mixed, &many);
    MPI_Type_commit(&mixed);
    MPI_Type_commit(&many);
    for (int i = 0; i < 100; ++i) {
        elements(MPI_CHAR, i, "char");
        elements(MPI_DOUBLE_INT, i, "double and int");
        elements(mixed, i, "mixed");
        elements(many, i, "vector of mixed");
    }
    elements(MPI_BYTE, (MPI_Count)1 << 62, "byte");
    elements(MPI_INT, (MPI_Count)INT_MAX + 5, "int");
    elements(many, (MPI_Count)INT_MAX * 100 + 17, "vector of mixed");
    MPI_Status_set_elements(&s, mixed, 12);
    MPI_Get_count(&s, mixed, &n);
    CHECK(n == 2, "12 elements are %d of a type of 6", n);
    MPI_Status_set_elements(&s, mixed, 13);
    MPI_Get_count(&s, mixed, &n);
    CHECK(n == MPI_UNDEFINED, "13 elements are %d of a type of 6", n);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_COUNT, MPI_Status_set_elements_x(&s, MPI_DOUBLE, LLONG_MAX));
    MPI_Type_free(&mixed);
    MPI_Type_free(&many);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Null handles have names (MPI 4.1, 7.8).
// ranks: 1 2
#include <string.h>

#include "tests/ranks/check.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Comm_get_name(MPI_COMM_NULL, name, &length);
    CHECK(strcmp(name, "MPI_COMM_NULL") == 0 && length == 13, "'%s', %d characters", name, length);
    MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length);
    CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0 && length == 17, "'%s', %d characters", name, length);
    MPI_Win_get_name(MPI_WIN_NULL, name, &length);
    CHECK(strcmp(name, "MPI_WIN_NULL") == 0 && length == 12, "'%s', %d characters", name, length);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_COMM, MPI_Comm_set_name(MPI_COMM_NULL, "none"));
    FAILS(MPI_ERR_COMM, MPI_Comm_get_name((MPI_Comm)12345, name, &length));
    MPI_Finalize();
    return 0;
}

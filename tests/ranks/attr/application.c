/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_APPNUM is the index of this program among those given to mpiexec; the argument is the expected value. */
// ranks: 2
// args: 0
#include "tests/ranks/check.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int *number = NULL, flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
    CHECK(flag && *number == atoi(argv[1]), "MPI_APPNUM is %d", flag ? *number : -1);
    MPI_Finalize();
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// ranks: 1 2
// run return: 2 TUTTI_INITIAL_ERRHANDLER=return return
// run abort: 2 TUTTI_INITIAL_ERRHANDLER=abort abort
// The initial error handler of MPI_COMM_WORLD, MPI_COMM_SELF and communicators made from them.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int has(MPI_Comm comm, MPI_Errhandler expected) {
    MPI_Errhandler found;
    MPI_Comm_get_errhandler(comm, &found);
    int const same = found == expected;
    MPI_Errhandler_free(&found);
    return same;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    char const* const name = argc > 1 ? argv[1] : "fatal";
    MPI_Errhandler const expected = strcmp(name, "return") == 0  ? MPI_ERRORS_RETURN
                                    : strcmp(name, "abort") == 0 ? MPI_ERRORS_ABORT
                                                                 : MPI_ERRORS_ARE_FATAL;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    int failed = !has(MPI_COMM_WORLD, expected) || !has(MPI_COMM_SELF, expected) || !has(copy, expected);
    if (expected == MPI_ERRORS_RETURN) failed |= MPI_Send(&failed, 1, MPI_INT, 1000, 0, copy) == MPI_SUCCESS;
    if (failed) fprintf(stderr, "the first error handler is not %s\n", name);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return failed;
}

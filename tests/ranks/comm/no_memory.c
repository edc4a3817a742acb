/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes as many communicators as the first argument, which must exceed the memory if the second is "full". When memory
 * runs out, all callers get an error, member or not; no rank waits, and freed memory is reusable. */
// ranks: 2
// args: 100
#include <string.h>

#include "tests/ranks/check.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int most = atoi(argv[1]), full = argc > 2 && !strcmp(argv[2], "full"), rank;
    MPI_Comm *comms = malloc((size_t)most * sizeof *comms);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < 3; ++round) {
        int made = 0, code = MPI_SUCCESS, class_ = MPI_SUCCESS, least, greatest;
        while (made < most && code == MPI_SUCCESS) {
            /* The error reaches other ranks in two ways; in one round, only rank 0 is a member of the communicators. */
            int const color = round != 1 || rank == 0 ? 0 : MPI_UNDEFINED;
            if (made % 2 == 0 || round == 1) code = MPI_Comm_split(MPI_COMM_WORLD, color, 0, &comms[made]);
            else code = MPI_Comm_dup(MPI_COMM_WORLD, &comms[made]);
            if (code == MPI_SUCCESS) ++made;
        }
        if (code != MPI_SUCCESS) MPI_Error_class(code, &class_);
        CHECK(class_ == (full ? MPI_ERR_NO_MEM : MPI_SUCCESS), "round %d: class %d after %d", round, class_, made);
        MPI_Allreduce(&made, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&made, &greatest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(least == greatest && least > 0, "round %d: from %d to %d communicators", round, least, greatest);
        while (made-- > 0)
            if (comms[made] != MPI_COMM_NULL) MPI_Comm_free(&comms[made]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(comms);
    MPI_Finalize();
    return 0;
}
